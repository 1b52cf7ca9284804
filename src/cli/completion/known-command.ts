/** Completions of a word: none (`any`), files, folders, domains, or a list of words. */
export type CompletionValues = 'any' | 'files' | 'folders' | 'domains' | string[]

/** One option of a command. */
export interface KnownOption {
  /** For example `-C` and `--workspace`. */
  names: string[]
  description: string
  /** Null for a flag without a value. */
  value: CompletionValues | null
}

/** Command as the completion scripts need it. */
export interface KnownCommand {
  /** Words of the command, such as `state list`; empty for the program itself. */
  path: string
  options: KnownOption[]
  commands: { name: string; description: string }[]
  /** Completions of its arguments. */
  argument: CompletionValues
}

/** Lists the words that lead from a command to its subcommands. */
export function listSteps(commands: KnownCommand[]): { from: string; name: string; to: string }[] {
  return commands.flatMap(({ path, commands: subcommands }) =>
    subcommands.map(({ name }) => ({ from: path, name, to: `${path} ${name}`.trim() })),
  )
}
