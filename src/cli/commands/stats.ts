import { Option } from 'commander'
import {
  grains,
  queryAreas,
  sumRequests,
  type Grain,
  type QueryArea,
} from '../../core/model/statistics.ts'
import type { StatsRequest } from '../../operations/stats.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'

interface StatsOptions {
  from?: string
  to?: string
  grain?: Grain
  sum?: boolean
  area: QueryArea
  forward?: boolean
  refresh?: boolean
}

/** `edgewise stats`: counts status codes by domain or in total. */
export function declareStats(declare: Declare): void {
  declare<StatsOptions>('stats [domains...]', {
    description: 'count status codes by domain or in total',
    args: ['domains; all is the whole account; those of all manifests by default'],
    examples: [
      'stats',
      'stats www.example.com --from 2h --grain minute',
      'stats --from 2026-11-01 --to 2026-11-07 --sum --json',
      'stats all --from 3d',
      'stats --refresh',
    ],
    traced: true,
    run: (context, [domains], options) =>
      options.refresh === true
        ? runRefresh(context, domains as string[])
        : runStats(context, domains as string[], options),
  })
    .option(
      '--from <time>',
      'YYYY-MM-DD, "YYYY-MM-DD HH:MM", or a time ago such as 2h (default: 24h)',
    )
    .option('--to <time>', 'in the same formats (default: now)')
    .addOption(
      new Option(
        '--grain <grain>',
        'length of a period; by default, chosen by the time span',
      ).choices(grains),
    )
    .option('--sum', 'one series over all domains; the domain "all" is the whole account')
    .addOption(
      new Option('--area <area>', 'only requests of this area; not for the domain "all"')
        .choices(queryAreas)
        .default('all'),
    )
    .option('--forward', 'label points with the ends of their periods; not for the domain "all"')
    .addOption(
      new Option(
        '--refresh',
        'count the requests of the last whole day, and record them for plans',
      ).conflicts(['from', 'to', 'grain', 'sum', 'area', 'forward']),
    )
}

/** Records the traffic of domains, and prints what was counted. */
async function runRefresh(context: CommandContext, domains: string[]): Promise<void> {
  const { refreshTraffic } = await import('../../operations/refresh-traffic.ts')
  const { buildRefreshJson, formatRefresh } = await import('../../outlets/report/stats/traffic.ts')
  const { createQueryPorts, startQueryProgress } = await import('../terminal/query-progress.ts')
  const { wrapForStdout } = await import('../terminal/output.ts')
  const { openWorkspace } = await import('../open.ts')
  const workspace = openWorkspace(context, 'available')
  const ports = createQueryPorts(context, () => startQueryProgress(context, 'traffic'))
  const refreshed = await refreshTraffic(workspace, domains, ports)
  context.print(
    () => buildRefreshJson(refreshed),
    () => `${wrapForStdout(formatRefresh(refreshed), context.io)}\n`,
  )
}

/** Queries statistics, and prints them. */
async function runStats(
  context: CommandContext,
  domains: string[],
  { sum = false, area, forward, ...times }: StatsOptions,
): Promise<void> {
  const { queryStats } = await import('../../operations/stats.ts')
  const { buildStatsJson } = await import('../../outlets/report/stats/json.ts')
  const { formatStats } = await import('../../outlets/report/stats/text.ts')
  const { createTimeZone } = await import('../../core/model/time/time-zone.ts')
  const { createQueryPorts, startQueryProgress } = await import('../terminal/query-progress.ts')
  const { openWorkspace } = await import('../open.ts')
  const { parseQuerySpan } = await import('../queries/time-span.ts')
  const { io, options, layout } = context
  // An answer may quote a secret of the manifests: known ones are removed from it.
  const workspace = openWorkspace(context, 'available')
  const zone = createTimeZone(workspace.config.service.timezone)
  const request: StatsRequest = {
    ...parseQuerySpan(domains, times, io.clock.now(), zone),
    domains,
    sum,
    area,
    labels: forward === true ? 'end' : 'start',
    keepPoints: options.json === true,
  }
  const ports = createQueryPorts(context, () => startQueryProgress(context, 'statistics'))
  const stats = await queryStats(workspace, request, ports)
  const noData = stats.tallies.every(({ counts }) => sumRequests(counts) === 0)
  if (noData) noteNoData(context, zone.name)
  if (request.grain === null) noteGrain(context, stats.grain)
  context.print(
    () => buildStatsJson(stats),
    () => `${formatStats(stats, layout)}\n`,
  )
}

/** Notes the grain that was chosen for the whole account. */
function noteGrain({ warn }: CommandContext, grain: Grain): void {
  warn(
    `counted by ${grain}, the finest grain that the service accepts ` +
      'for all domains of this account and this time.',
  )
}

/** Notes that there were no requests: not an error, but possibly a wrong time zone. */
function noteNoData({ warn }: CommandContext, zone: string): void {
  warn(
    `the service counted no requests in this time. If there were ` +
      `some, check "service.timezone" (${zone}) in edgewise.yaml; counts of the last minutes may ` +
      'be delayed.',
  )
}
