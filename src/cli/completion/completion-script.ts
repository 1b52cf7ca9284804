import type { Argument, Command, Option } from 'commander'
import { catalogue } from '../../catalog/catalogue.ts'
import { buildBashScript } from './bash.ts'
import { buildFishScript } from './fish.ts'
import { buildZshScript } from './zsh.ts'
import type { KnownCommand, KnownOption, CompletionValues } from './known-command.ts'

/** Returns the script for a shell: `bash`, `zsh` or `fish`. */
export function buildCompletionScript(program: Command, shell: string): string {
  const scripts: Record<string, (commands: KnownCommand[]) => string> = {
    bash: buildBashScript,
    zsh: buildZshScript,
    fish: buildFishScript,
  }
  return scripts[shell]?.(commandsOf(program, '')) ?? ''
}

/** A command and all below it. */
function commandsOf(command: Command, path: string): KnownCommand[] {
  const below = command.commands
  const help: KnownOption = { names: ['-h', '--help'], description: 'print help', value: null }
  return [
    {
      path,
      options: [...command.options.map(optionOf), help],
      commands: below.map((each) => ({ name: each.name(), description: each.description() })),
      argument:
        command.registeredArguments[0] === undefined
          ? 'any'
          : valuesOf(command.registeredArguments[0], command.registeredArguments[0].name()),
    },
    ...below.flatMap((each) => commandsOf(each, `${path} ${each.name()}`.trim())),
  ]
}

function optionOf(option: Option): KnownOption {
  const names = [option.short, option.long].filter((name) => name !== undefined && name !== null)
  const takes = option.required || option.optional
  const placeholder = /<([^>]+)>/.exec(option.flags)?.[1] ?? ''
  return {
    names,
    description: option.description,
    value: takes ? valuesOf(option, placeholder) : null,
  }
}

/** What is meant by the word that stands for a value in the help. */
function valuesOf({ argChoices }: Option | Argument, placeholder: string): CompletionValues {
  if (argChoices !== undefined) return [...argChoices]
  if (placeholder === 'item') return [...catalogue.keys()]
  if (placeholder === 'dir') return 'folders'
  return /^(file|files|paths|planfile|file\|command)$/.test(placeholder) ? 'files' : 'any'
}
