import type { CommandContext } from '../io.ts'

/** Minimum interval between two updates, ms. */
const intervalMs = { terminal: 200, log: 5000 }

/**
 * Creates the progress line of a long search for fewer writes: one line on a terminal, a line every
 * five seconds elsewhere, nothing with `--quiet` and `--json` or for a short search.
 */
export function createPlanningLine({ io, options, note, live }: CommandContext): {
  report(made: number, all: number): void
  end(): void
} {
  let last: number | null = null
  return {
    report: (made, all) => {
      if (options.quiet === true || options.json === true) return
      const now = io.clock.monotonic()
      last ??= now
      if (now - last < (io.errIsTerminal ? intervalMs.terminal : intervalMs.log)) return
      last = now
      const text = `searching for fewer writes: ${Math.floor((100 * made) / Math.max(1, all))} %`
      if (io.errIsTerminal) live.show(() => text)
      else note(text)
    },
    end: () => live.end(),
  }
}
