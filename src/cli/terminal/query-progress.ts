import type { CommandContext } from '../io.ts'

/** Shows how far a long reading is. */
export interface ReadProgress {
  heard(done: number, all: number): void
  end(): void
}

/** Fewer parts are over before anybody wonders. */
const fewParts = 10

/** A bar on a terminal, a line for every quarter elsewhere, nothing with `--quiet` and `--json`. */
export async function readProgress({ io, options, note }: CommandContext, what: string): Promise<ReadProgress> {
  if (options.quiet === true || options.json === true) return { heard: () => undefined, end: () => undefined }
  if (!io.errIsTerminal) {
    let told = 0
    return {
      heard: (done, all) => {
        const quarter = Math.floor((4 * done) / Math.max(1, all))
        if (all < fewParts || quarter <= told || done === all) return
        told = quarter
        note(`${what}: ${done} of ${all} reads`)
      },
      end: () => undefined,
    }
  }
  const { openBar } = await import('./bar.ts')
  const bar = openBar(`{bar} {value}/{total} reads of ${what}`, true)
  let begun = false
  return {
    heard: (done, all) => {
      if (all < fewParts) return
      if (!begun) bar.start(all, done)
      begun = true
      bar.update(done)
    },
    end: () => {
      if (begun) bar.stop()
    },
  }
}

/** How a command reads: until it is interrupted, and telling every wait that the service demands. */
export function readsOf({ io, note }: CommandContext) {
  const waits = (ms: number) => note(`the service lets no more reads through for ${Math.ceil(ms / 1000)} s; waiting`)
  return { signal: io.signal, waits }
}
