import type { PrefetchRecord } from '../../core/model/prefetch.ts'
import { formatPrefetchProgress } from '../../outlets/report/stats/prefetch-text.ts'
import type { QuestionProgress } from '../../operations/stats.ts'
import type { QueryPorts, QueryProgress } from '../../operations/runtime/connect.ts'
import type { CommandContext } from '../io.ts'

/** Queries with fewer parts are too short for a progress line. */
const fewParts = 10

/** Shows the progress of a query in parts: in a log, each quarter. */
export function startQueryProgress(
  context: CommandContext,
  what: string,
): QueryProgress<QuestionProgress> {
  let reported = 0
  return start(context, ({ done, all }) => {
    const quarter = Math.floor((4 * done) / Math.max(1, all))
    const isNews = quarter > reported && done < all
    reported = Math.max(reported, quarter)
    return all < fewParts ? null : { text: `${what}: ${done} of ${all} queries`, isNews }
  })
}

/** Shows the progress of prefetch tasks: in a log, each change of a count. */
export function startPrefetchProgress(context: CommandContext): QueryProgress<PrefetchRecord[]> {
  let printed = ''
  return start(context, (records) => {
    const text = formatPrefetchProgress(records)
    const isNews = text !== printed
    printed = text
    return { text, isNews }
  })
}

/**
 * Starts a progress: the last line of a terminal, elsewhere a line for what is news. With `--quiet`
 * and `--json` it shows nothing.
 */
function start<T>(
  { io, options, note, live }: CommandContext,
  describe: (progress: T) => { text: string; isNews: boolean } | null,
): QueryProgress<T> {
  if (options.quiet === true || options.json === true)
    return { report: () => undefined, end: () => undefined }
  return {
    report: (progress) => {
      const described = describe(progress)
      if (described === null) return
      if (io.errIsTerminal) live.show(() => described.text)
      else if (described.isNews) note(described.text)
    },
    end: () => live.end(),
  }
}

/** Creates the ports of an operation with queries. Waits for the query rate are printed. */
export function createQueryPorts<T>(
  context: CommandContext,
  startProgress: QueryPorts<T>['startProgress'],
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
