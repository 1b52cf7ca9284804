import type { Readable } from 'node:stream'
import type { Phase } from '../core/model/events.ts'
import type { Outside } from '../operations/runtime/parts.ts'
import type { Paint } from '../outlets/report/text/paint.ts'

/** Ports of a command: output streams, prompt, clock, randomness and environment. */
export interface Io extends Outside {
  cwd: string
  /** Writes to stdout: results only. `commands` are for a CI runner, which executes them. */
  out(text: string, as?: 'commands'): void
  /** Writes to stderr: progress, warnings, errors. */
  err(text: string): void
  /** Width of the terminal at stdout; otherwise COLUMNS, and Infinity without it. */
  columns: number
  /** The same for stderr. */
  errColumns: number
  outIsTerminal: boolean
  errIsTerminal: boolean
  /** Opens the input of the command; null if stdin is a terminal. */
  openStdin: (() => Readable) | null
  /** Asks a yes/no question; null if there is no terminal. */
  ask: ((question: string) => Promise<boolean>) | null
  /** Resolves when the user stops a server. */
  waitForStop(): Promise<void>
  /** Keeps memory low from now on, at the cost of some CPU time; absent: it grows as usual. */
  saveMemory?(): void
  /** Ends the process with the command, also if something is left to wait for; absent: no. */
  endSoon?(): void
}

/** Last line of a terminal, which shows what a command does at the moment. */
export interface LiveLine {
  /** Shows a line until it ends, and draws it again every second. */
  show(compose: () => string): void
  /** Shows a line from the next second on: most commands end before it. */
  showLater(compose: () => string): void
  /** Draws the line again at once. */
  draw(): void
  end(): void
}

/** Shows the phases of a command while it runs. */
export interface PhaseLine {
  /** Shows a phase, or the progress of the same phase. */
  report(phase: Phase): void
  /** Removes the line, before anything else is shown in its place. */
  end(): void
}

/** Options of every command. */
export interface GlobalOptions {
  workspace?: string
  json?: boolean
  yes?: boolean
  color?: boolean
  cache?: boolean
  quiet?: boolean
  verbose?: boolean
}

/** Context of a command: ports, common options, and the paint of each stream. */
export interface CommandContext {
  io: Io
  options: GlobalOptions
  /** For text on stdout. */
  paint: Paint
  /** For text on stderr. */
  errPaint: Paint
  /** Shows what the command does at the moment, on a terminal. */
  live: LiveLine
  phases: PhaseLine
  /** How texts are laid out on stdout. */
  layout: { paint: Paint; columns: number; verbose: boolean }
  /** Prints a result on stdout: as JSON with `--json`, else as text. */
  print(this: void, json: () => object, text: () => string): void
  /** Prints a line on stderr, unless `--quiet`. */
  note(text: string): void
  /** Prints a line that begins with "note:" on stderr, unless `--quiet`. */
  warn(this: void, text: string): void
}
