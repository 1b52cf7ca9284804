import type { QuestionProgress } from '../../operations/stats.ts'
import type { QueryPorts, QueryProgress } from '../../operations/with-queries.ts'
import type { CommandContext } from '../io.ts'

type Progress = QueryProgress<QuestionProgress>

const silent: Progress = { report: () => undefined, end: () => undefined }

/** Queries with fewer parts are too short for a progress line. */
const fewParts = 10

/**
 * Shows the progress of a query: a bar on a terminal, a line for every quarter elsewhere, nothing
 * with `--quiet` and `--json`.
 */
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
        note(`${what}: ${done} of ${all} queries`)
      },
      end: () => undefined,
    }
  }
  const { createBar } = await import('./bar.ts')
  const bar = createBar(`{bar} {value}/{total} queries of ${what}`, true)
  let started = false
  return {
    report: ({ done, all }) => {
      if (all < fewParts) return
      if (!started) bar.start(all, done)
      started = true
      bar.update(done)
    },
    end: () => {
      if (started) bar.stop()
    },
  }
}

type Start<T> = QueryPorts<T>['startProgress']

/** Creates the ports of an operation with queries. Waits for the query rate are printed. */
export function createQueryPorts<T>(
  context: CommandContext,
  startProgress: Start<T>,
): QueryPorts<T> {
  return {
    outside: context.io,
    onWait: (ms) => {
      const seconds = Math.ceil(ms / 1000)
      context.note(`the query rate of the service is used up; waiting ${seconds} s`)
    },
    startProgress: () => {
      context.phases.end()
      return startProgress()
    },
  }
}
