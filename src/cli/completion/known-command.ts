/**
 * What may stand in a place of the command line: nothing that could be offered, files, folders, or
 * some words.
 */
export type CompletionValues = 'any' | 'files' | 'folders' | string[]

/** One option of a command. */
export interface KnownOption {
  /** `-C` and `--workspace`, say. */
  names: string[]
  description: string
  /** Null for one that takes no value. */
  value: CompletionValues | null
}

/** A command as the completion scripts need it. */
export interface KnownCommand {
  /** The words that lead to it: empty for the program itself, `state list`. */
  path: string
  options: KnownOption[]
  commands: { name: string; description: string }[]
  /** What its arguments may be. */
  argument: CompletionValues
}

/** The words that lead from one command to another. */
export function listSteps(commands: KnownCommand[]): { from: string; name: string; to: string }[] {
  return commands.flatMap(({ path, commands: below }) =>
    below.map(({ name }) => ({ from: path, name, to: `${path} ${name}`.trim() })),
  )
}
