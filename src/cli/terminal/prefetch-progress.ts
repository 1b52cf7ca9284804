import { countPrefetches, type PrefetchRecord } from '../../model/prefetch.ts'
import { formatPrefetchProgress } from '../../report/stats/prefetch-text.ts'
import type { QueryProgress } from '../../operations/with-queries.ts'
import type { CommandContext } from '../io.ts'

type Progress = QueryProgress<PrefetchRecord[]>

/**
 * Shows the progress of prefetch tasks: a bar on a terminal, a line whenever a count changes
 * elsewhere, nothing with `--quiet` and `--json`.
 */
export async function startPrefetchProgress(context: CommandContext): Promise<Progress> {
  const { io, options, note } = context
  if (options.quiet === true || options.json === true) {
    return { report: () => undefined, end: () => undefined }
  }
  if (!io.errIsTerminal) {
    let printed = ''
    return {
      report: (records) => {
        const line = formatPrefetchProgress(records)
        if (line !== printed) note(line)
        printed = line
      },
      end: () => undefined,
    }
  }
  const { createBar } = await import('./bar.ts')
  const bar = createBar('{bar} {value}/{total} URLs · {failed} failed', true)
  bar.start(1, 0, { failed: 0 })
  return {
    report: (records) => {
      const { completed, failed } = countPrefetches(records)
      bar.setTotal(records.length)
      bar.update(completed + failed, { failed })
    },
    end: () => bar.stop(),
  }
}
