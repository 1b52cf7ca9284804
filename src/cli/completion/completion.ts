import type { Argument, Command, Option } from 'commander'
import { catalogue } from '../../catalog/catalogue.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'
import { exits } from '../exits.ts'
import type { CommandContext } from '../io.ts'

/** What may stand in a place of the command line: nothing that could be offered, files, folders, or some words. */
export type Values = 'any' | 'files' | 'folders' | string[]

/** One option of a command. */
export interface KnownOption {
  /** `-C` and `--workspace`, say. */
  names: string[]
  description: string
  /** Null for one that takes no value. */
  value: Values | null
}

/** A command as the completion scripts need it. */
export interface KnownCommand {
  /** The words that lead to it: empty for the program itself, `state list`. */
  path: string
  options: KnownOption[]
  commands: { name: string; description: string }[]
  /** What its arguments may be. */
  argument: Values
}

/** `edgewise completion`: prints a script that completes the command line of a shell; it is made from the commands themselves. */
export function completionOf(program: Command) {
  return async ({ io }: CommandContext, [shell]: unknown[]): Promise<number> => {
    const scripts: Record<string, (commands: KnownCommand[]) => string> = { bash: bashScript, zsh: zshScript, fish: fishScript }
    io.out(scripts[String(shell)]?.(commandsOf(program, '')) ?? '')
    return exits.done
  }
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
  return { names, description: option.description, value: takes ? valuesOf(option, placeholder) : null }
}

/** What is meant by the word that stands for a value in the help. */
function valuesOf({ argChoices }: Option | Argument, placeholder: string): Values {
  if (argChoices !== undefined) return [...argChoices]
  if (placeholder === 'item') return [...catalogue.keys()]
  if (placeholder === 'dir') return 'folders'
  return /^(file|files|paths|planfile|file\|command)$/.test(placeholder) ? 'files' : 'any'
}
