import type { QuestionProgress } from '../../operations/stats.ts'
import type { QueryPorts, QueryProgress } from '../../operations/with-queries.ts'
import type { CommandContext } from '../io.ts'

type Progress = QueryProgress<QuestionProgress>

const silent: Progress = { report: () => undefined, end: () => undefined }

/** Fewer parts are over before anybody wonders. */
const fewParts = 10

/** A bar on a terminal, a line for every quarter elsewhere, nothing with `--quiet` and `--json`. */
export async function startQueryProgress(context: CommandContext, what: string): Promise<Progress> {
  const { io, options, note } = context
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
  const { createBar } = await import('./bar.ts')
  const bar = createBar(`{bar} {value}/{total} reads of ${what}`, true)
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

type Start<T> = QueryPorts<T>['startProgress']

/** Makes the ports of an operation that queries; waits that the service demands are printed. */
export function createQueryPorts<T>(
  context: CommandContext,
  startProgress: Start<T>,
): QueryPorts<T> {
  return {
    outside: context.io,
    onWait: (ms) => {
      const seconds = Math.ceil(ms / 1000)
      context.note(`the service lets no more reads through for ${seconds} s; waiting`)
    },
    startProgress,
  }
}
