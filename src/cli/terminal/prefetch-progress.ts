import { prefetchCounts, type PrefetchRecord } from '../../model/prefetch.ts'
import { prefetchLine } from '../../report/stats/prefetch-text.ts'
import type { CommandContext } from '../io.ts'

/** Shows how far prefetch tasks are while somebody waits for them. */
export interface PrefetchProgress {
  tell(records: PrefetchRecord[]): void
  end(): void
}

/** A bar on a terminal, a line whenever something moved elsewhere, nothing with `--quiet` and `--json`. */
export async function prefetchProgress({ io, options, note }: CommandContext): Promise<PrefetchProgress> {
  if (options.quiet === true || options.json === true) return { tell: () => undefined, end: () => undefined }
  if (!io.errIsTerminal) {
    let told = ''
    return {
      tell: (records) => {
        const line = prefetchLine(records)
        if (line !== told) note(line)
        told = line
      },
      end: () => undefined,
    }
  }
  const { openBar } = await import('./bar.ts')
  const bar = openBar('{bar} {value}/{total} URLs · {failed} failed', true)
  bar.start(1, 0, { failed: 0 })
  return {
    tell: (records) => {
      const { completed, failed } = prefetchCounts(records)
      bar.setTotal(records.length)
      bar.update(completed + failed, { failed })
    },
    end: () => bar.stop(),
  }
}
