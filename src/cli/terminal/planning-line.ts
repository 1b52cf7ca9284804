import type { CommandContext } from '../io.ts'

/** How often a line on a terminal is drawn anew, and a log gets one, ms. */
const everyMs = { terminal: 200, log: 5000 }

/**
 * Shows how far a long search for fewer writes is: one line on a terminal, a line every five
 * seconds elsewhere, nothing with `--quiet` and `--json`, nor for a search that is over at once.
 */
export function createPlanningLine({ io, options, note }: CommandContext): {
  report(made: number, all: number): void
  end(): void
} {
  let last: number | null = null
  let drawn = false
  return {
    report: (made, all) => {
      if (options.quiet === true || options.json === true) return
      const now = io.clock.monotonic()
      last ??= now
      if (now - last < (io.errIsTerminal ? everyMs.terminal : everyMs.log)) return
      last = now
      const text = `looking for fewer writes: ${Math.floor((100 * made) / Math.max(1, all))} %`
      if (io.errIsTerminal) io.err(`\r\u001b[K${text}`)
      else note(text)
      drawn = io.errIsTerminal
    },
    end: () => {
      if (drawn) io.err('\r\u001b[K')
      drawn = false
    },
  }
}
