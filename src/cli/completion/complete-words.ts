import type { Argument, Command, Option } from 'commander'
import { adjustableCodes } from '../../core/model/problem.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import type { CommandContext } from '../io.ts'
import { scanDomains } from '../../manifest/manifests/scan-domains.ts'
import { loadWorkspaceFiles } from '../../manifest/manifests/load-workspace.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { findWorkspaceRoot } from '../open.ts'

/** Candidates for a word: files, folders, or one of a list of words. */
export type Completions = 'files' | 'folders' | { word: string; description: string }[]

/**
 * Lists the completions of the last of some words, which is incomplete.
 *
 * @param program with all commands
 * @param words the words after the name of the program
 */
export function completeWords(
  program: Command,
  words: string[],
  context: CommandContext,
): Completions {
  const start = words.at(-1) ?? ''
  let command = program
  let awaited: Option | null = null
  let workspace: string | undefined
  for (const word of words.slice(0, -1)) {
    if (awaited !== null) {
      if (awaited.long === '--workspace') workspace = word
      awaited = null
      continue
    }
    const option = command.options.find(({ short, long }) => word === short || word === long)
    if (option?.required === true) awaited = option
    command = command.commands.find((each) => each.name() === word) ?? command
  }
  const list = (of: Option | Argument, name: string) =>
    listValues(of, name, start, {
      ...context,
      options: { ...context.options, ...(workspace === undefined ? {} : { workspace }) },
    })
  if (awaited !== null) return list(awaited, /<([^<>]+)>/.exec(awaited.flags)?.[1] ?? '')
  if (start.startsWith('-')) return select(listOptions(command), start)
  const shown = command.createHelp().visibleCommands(command)
  const subcommands = command.commands.filter((each) => shown.includes(each))
  if (subcommands.length > 0)
    return select(
      subcommands.map((each) => ({ word: each.name(), description: each.description() })),
      start,
    )
  const [argument] = command.registeredArguments
  return argument === undefined ? [] : list(argument, argument.name())
}

function listOptions(command: Command): { word: string; description: string }[] {
  const help = ['-h', '--help'].map((word) => ({ word, description: 'print help' }))
  const own = command.options.flatMap(({ short, long, description }) =>
    [short, long].flatMap((word) => (word == null ? [] : [{ word, description }])),
  )
  return [...own, ...help]
}

/** Lists values by the choices, or by the placeholder in the help. */
function listValues(
  { argChoices }: Option | Argument,
  name: string,
  start: string,
  context: CommandContext,
): Completions {
  const plain = (values: string[]) => values.map((word) => ({ word, description: '' }))
  if (argChoices !== undefined) return select(plain(argChoices), start)
  if (name === 'item') return select(plain([...catalogue.keys()]), start)
  if (name === 'code') return select(plain([...adjustableCodes]), start)
  if (name === 'dir') return 'folders'
  if (/^(domain|domains|glob)$/.test(name)) return plain(listDomains(context, start))
  return /^(file|files|paths|planfile|file\|command)$/.test(name) ? 'files' : []
}

function select<T extends { word: string }>(all: T[], start: string): T[] {
  return all.filter(({ word }) => word.startsWith(start))
}

/**
 * Lists the domains of the workspace that begin with a text, sorted; none without a valid
 * `edgewise.yaml`. Uses neither state nor network.
 */
function listDomains(context: CommandContext, prefix: string): string[] {
  try {
    const { files } = loadWorkspaceFiles(findWorkspaceRoot(context), context.io.env)
    const domains = new Set(files.flatMap(({ text }) => scanDomains(text)))
    const start = prefix.toLowerCase()
    return [...domains].filter((domain) => domain.startsWith(start)).toSorted()
  } catch (error) {
    throwDefect(error)
    return []
  }
}
