import { Option } from 'commander'
import { countPrefetches } from '../../core/model/prefetch.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import type { PrefetchQueryOptions } from '../queries/prefetch-query.ts'

interface PrefetchOptions extends PrefetchQueryOptions {
  wait?: boolean
}

/** `edgewise prefetch`: shows the progress of prefetch tasks and their failures. */
export function declarePrefetch(declare: Declare): void {
  declare<PrefetchOptions>('prefetch', {
    description: 'show the progress of prefetch tasks and their failures',
    examples: [
      'prefetch --task 1001 --wait',
      'prefetch --from 2026-11-01 --to 2026-11-07',
      'prefetch --from 2026-11-01 --to 2026-11-07 --json',
    ],
    traced: true,
    run: async (context, _args, { wait = false, ...queryOptions }) => {
      const { queryPrefetchTasks } = await import('../../operations/prefetch.ts')
      const { buildPrefetchJson } = await import('../../outlets/report/stats/json.ts')
      const { formatNoRecords, formatPrefetch } =
        await import('../../outlets/report/stats/prefetch-text.ts')
      const { createTimeZone } = await import('../../core/model/time/time-zone.ts')
      const { createQueryPorts, startPrefetchProgress } =
        await import('../terminal/query-progress.ts')
      const { openWorkspace } = await import('../open.ts')
      const { parsePrefetchQuery } = await import('../queries/prefetch-query.ts')
      const { note, warn } = context
      const query = parsePrefetchQuery(queryOptions)
      // An answer may quote a secret of the manifests: known ones are removed from it.
      const workspace = openWorkspace(context, 'available')
      const zone = createTimeZone(workspace.config.service.timezone)
      const ports = createQueryPorts(context, () => startPrefetchProgress(context))
      const request = { query, wait }
      const { records, complete } = await queryPrefetchTasks(workspace, request, ports)
      if (!complete)
        warn('tasks changed while the list was fetched; some may be missing. Run it again.')
      if (records.length === 0) note(formatNoRecords(query))
      context.print(
        () => buildPrefetchJson(query, records, complete),
        () => `${formatPrefetch(query, records, { ...context.layout, zone })}\n`,
      )
      return wait && countPrefetches(records).failed > 0 ? exitCodes.incomplete : exitCodes.done
    },
  })
    .option('--from <date>', 'first day of the tasks, YYYY-MM-DD; needs --to')
    .option('--to <date>', 'last day of the tasks')
    .option('--url <url>', 'only this URL; needs --from and --to')
    .addOption(
      new Option('--task <id>', 'all URLs of one submission').conflicts(['from', 'to', 'url']),
    )
    .option('--wait', 'wait until no task is waiting or processing; exit with 3 if one failed')
}
