import type { Argument, Command, Option } from 'commander'
import { catalogue } from '../../catalog/catalogue.ts'
import { buildBashScript } from './bash.ts'
import { buildFishScript } from './fish.ts'
import { buildZshScript } from './zsh.ts'
import type { KnownCommand, KnownOption, CompletionValues } from './known-command.ts'

/** Builds the completion script for a shell: `bash`, `zsh` or `fish`. */
export function buildCompletionScript(program: Command, shell: string): string {
  const scripts: Record<string, (commands: KnownCommand[]) => string> = {
    bash: buildBashScript,
    zsh: buildZshScript,
    fish: buildFishScript,
  }
  return scripts[shell]?.(listCommands(program, '')) ?? ''
}

/** Lists a command and all its subcommands. */
function listCommands(command: Command, path: string): KnownCommand[] {
  const visible = command.createHelp().visibleCommands(command)
  const subcommands = command.commands.filter((each) => visible.includes(each))
  const help: KnownOption = { names: ['-h', '--help'], description: 'print help', value: null }
  return [
    {
      path,
      options: [...command.options.map(toKnownOption), help],
      commands: subcommands.map((subcommand) => ({
        name: subcommand.name(),
        description: subcommand.description(),
      })),
      argument:
        command.registeredArguments[0] === undefined
          ? 'any'
          : inferValues(command.registeredArguments[0], command.registeredArguments[0].name()),
    },
    ...subcommands.flatMap((subcommand) =>
      listCommands(subcommand, `${path} ${subcommand.name()}`.trim()),
    ),
  ]
}

function toKnownOption(option: Option): KnownOption {
  const names = [option.short, option.long].filter((name) => name !== undefined && name !== null)
  const hasValue = option.required || option.optional
  const placeholder = /<([^<>]+)>/.exec(option.flags)?.[1] ?? ''
  return {
    names,
    description: option.description,
    value: hasValue ? inferValues(option, placeholder) : null,
  }
}

/** Lists possible values by the choices or the placeholder in the help. */
function inferValues({ argChoices }: Option | Argument, placeholder: string): CompletionValues {
  if (argChoices !== undefined) return [...argChoices]
  if (placeholder === 'item') return [...catalogue.keys()]
  if (placeholder === 'dir') return 'folders'
  if (/^(domain|domains|glob)$/.test(placeholder)) return 'domains'
  return /^(file|files|paths|planfile|file\|command)$/.test(placeholder) ? 'files' : 'any'
}
