import type { CommandContext } from '../io.ts'

/** Shows how far the queries of a long question are. */
export interface QueryProgress {
  report(progress: { done: number; all: number }): void
  end(): void
}

const silent: QueryProgress = { report: () => undefined, end: () => undefined }

/** Fewer parts are over before anybody wonders. */
const fewParts = 10

/** A bar on a terminal, a line for every quarter elsewhere, nothing with `--quiet` and `--json`. */
export async function queryProgress({ io, options, note }: CommandContext, what: string): Promise<QueryProgress> {
  if (options.quiet === true || options.json === true) return silent
  if (!io.errIsTerminal) {
    let reported = 0
    return {
      report: ({ done, all }) => {
        const quarter = Math.floor((4 * done) / Math.max(1, all))
        if (all < fewParts || quarter <= reported || done === all) return
        reported = quarter
        note(`${what}: ${done} of ${all} reads`)
      },
      end: () => undefined,
    }
  }
  const { openBar } = await import('./bar.ts')
  const bar = openBar(`{bar} {value}/{total} reads of ${what}`, true)
  let begun = false
  return {
    report: ({ done, all }) => {
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

/** Queries end when a command is interrupted, and every wait that the service demands is printed. */
export function queryOptions({ io, note }: CommandContext) {
  const onWait = (ms: number) => note(`the service lets no more reads through for ${Math.ceil(ms / 1000)} s; waiting`)
  return { signal: io.signal, onWait }
}
