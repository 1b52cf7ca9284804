import type { CommandContext } from '../io.ts'

/** Minimum interval between two updates, ms. */
const intervalMs = { terminal: 200, log: 5000 }

/**
 * Creates the progress line of a long step: one line on a terminal, a line every five seconds
 * elsewhere, nothing with `--quiet` and `--json` or for a short step.
 *
 * @param what words for the step, such as "loading manifests"
 */
export function createProgressLine(
  { io, options, note, live }: CommandContext,
  what: string,
): {
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
      const text = `${what}: ${Math.floor((100 * made) / Math.max(1, all))} %`
      if (io.errIsTerminal) live.show(() => text)
      else note(text)
    },
    end: () => live.end(),
  }
}
