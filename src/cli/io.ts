import type { Outside } from '../operations/outside.ts'
import type { Paint } from '../report/text/paint.ts'

/** What a command is given of the world: words in, words out, clock, chance and environment. */
export interface Io extends Outside {
  cwd: string
  /** Writes to stdout: results only. */
  out(text: string): void
  /** Writes to stderr: progress, warnings, errors. */
  err(text: string): void
  /** Width of the terminal, or 80. */
  columns: number
  outIsTerminal: boolean
  errIsTerminal: boolean
  /** Asks a question that is answered with yes or no; null where nobody can answer. */
  ask: ((question: string) => Promise<boolean>) | null
  /** Resolves when the user wants a server to end. */
  waitForStop(): Promise<void>
}

/** The options that every command has. */
export interface GlobalOptions {
  workspace?: string
  json?: boolean
  yes?: boolean
  color?: boolean
  quiet?: boolean
  verbose?: boolean
}

/** What a command works with: the world, the common options, and how to write to each stream. */
export interface CommandContext {
  io: Io
  options: GlobalOptions
  /** For text on stdout. */
  paint: Paint
  /** For text on stderr. */
  errPaint: Paint
  /** A line on stderr that `--quiet` takes away. */
  note(text: string): void
}
