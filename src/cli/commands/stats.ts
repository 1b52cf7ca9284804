import { Option, type Command } from 'commander'
import { grains, sumRequests, type Grain } from '../../model/statistics.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'

interface StatsOptions {
  from?: string
  to?: string
  grain?: Grain
  sum?: boolean
}

/** `edgewise stats`: counts of status codes by domain, or summed over domains. */
export function declareStats(program: Command, declare: Declare): void {
  declare<StatsOptions>(program, 'stats [domains...]', {
    description: 'counts of status codes, by domain or summed',
    examples: [
      'stats',
      'stats www.example.com --from 2h --grain minute',
      'stats --from 2026-11-01 --to 2026-11-07 --sum --json',
    ],
    run: async (context, [named], { sum = false, ...times }) => {
      const { queryStats } = await import('../../operations/stats.ts')
      const { buildStatsJson } = await import('../../report/stats/json.ts')
      const { formatStats } = await import('../../report/stats/text.ts')
      const { createTimeZone } = await import('../../model/time-zone.ts')
      const { createQueryPorts, startQueryProgress } = await import('../terminal/query-progress.ts')
      const { openWorkspace } = await import('../open.ts')
      const { parseTimeSpan } = await import('./time-span.ts')
      const { io, options, paint } = context
      const workspace = openWorkspace(context, 'none')
      const zone = createTimeZone(workspace.config.service.timezone)
      const span = parseTimeSpan(times, io.clock.now(), zone)
      const json = options.json === true
      const request = { ...span, domains: named as string[], sum, keepPoints: json }
      const ports = createQueryPorts(context, () => startQueryProgress(context, 'statistics'))
      const stats = await queryStats(workspace, request, ports)
      const noData = stats.tallies.every(({ counts }) => sumRequests(counts) === 0)
      if (noData) noteNoData(context, zone.name)
      const layout = { paint, columns: io.columns, verbose: options.verbose === true }
      io.out(`${json ? JSON.stringify(buildStatsJson(stats)) : formatStats(stats, layout)}\n`)
      return exitCodes.done
    },
  })
    .option(
      '--from <time>',
      'YYYY-MM-DD, "YYYY-MM-DD HH:MM", or a time ago such as 2h; 24h without it',
    )
    .option('--to <time>', 'likewise; now without it')
    .addOption(
      new Option(
        '--grain <grain>',
        'how long the periods are; by the length of the time without it',
      ).choices(grains),
    )
    .option('--sum', 'one series over all domains; "all" then names every domain of the account')
}

/** Notes that nothing was counted: no failure, but maybe the sign of one. */
function noteNoData({ note, errPaint }: CommandContext, zone: string): void {
  note(
    `${errPaint.yellow('note:')} the service counts no requests in this time. If there were some, ` +
      `look at "service.timezone" (${zone}) in edgewise.yaml; counts of the last minutes may also ` +
      'be on their way.',
  )
}
