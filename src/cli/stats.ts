import { isDomain } from '../catalog/value/formats.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { withQueries } from '../operations/with-queries.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import { addByTime, requestsIn, toPoints, type Counts, type Grain } from '../model/statistics.ts'
import { addPoints, emptyTally, type Tally } from '../model/tally.ts'
import { timeZone } from '../model/time-zone.ts'
import { statsJson } from '../report/stats/json.ts'
import { sparkSteps, statsText, type Statistics } from '../report/stats/text.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace } from './open.ts'
import { queryProgress, queryOptions } from './terminal/query-progress.ts'
import { timeSpan, type TimeSpan } from './commands/time-span.ts'

export interface StatsOptions {
  from?: string
  to?: string
  grain?: Grain
  sum?: boolean
}

/** `edgewise stats`: counts of status codes by domain, or summed over domains. */
export async function stats(context: CommandContext, [given]: unknown[], options: StatsOptions): Promise<number> {
  const { io, paint } = context
  const workspace = openWorkspace(context, 'none')
  const zone = timeZone(workspace.config.service.timezone)
  const sum = options.sum === true
  const domains = domainsOf(Array.isArray(given) ? given.map(String) : [], workspace, sum)
  const span = timeSpan(options, io.clock.now(), zone)
  const keep = context.options.json === true
  const tallies = await withQueries(workspace, io, queryOptions(context), (queries) =>
    counted(context, queries, domains, span, { sum, keep }),
  )
  const found: Statistics = { ...span, zone, sum: sum ? domains : null, tallies }
  if (tallies.every(({ counts }) => requestsIn(counts) === 0)) tellNoData(context, zone.name)
  if (keep) io.out(`${JSON.stringify(statsJson(found))}\n`)
  else io.out(`${statsText(found, { paint, columns: io.columns, verbose: context.options.verbose === true })}\n`)
  return exits.done
}

/** The domains that were named, or else those of all manifests. `all` is the service's own word for every domain of the account. */
function domainsOf(given: string[], { desired }: LoadedWorkspace, sum: boolean): Domain[] | 'all' {
  if (sum && given.length === 1 && given[0] === 'all') return 'all'
  const names = given.length === 0 ? [...desired.keys()] : [...new Set(given.map((name) => name.toLowerCase()))]
  const wrong = names.find((name) => !isDomain(name))
  if (wrong !== undefined) {
    const hint = wrong === 'all' ? '"all" stands alone, and only with --sum.' : 'Name domains such as www.example.com.'
    throw new EdgewiseError('usage', `expected the name of a domain, got "${wrong}"`, hint)
  }
  if (names.length === 0) throw new EdgewiseError('usage', 'no manifest declares a domain', 'Name the domains to ask for.')
  return names
}

async function counted(
  context: CommandContext,
  queries: QueryClient,
  domains: Domain[] | 'all',
  span: TimeSpan,
  { sum, keep }: { sum: boolean; keep: boolean },
): Promise<Tally[]> {
  const progress = await queryProgress(context, 'statistics')
  try {
    if (sum || domains === 'all') {
      const tally = emptyTally(null, sparkSteps)
      const sums = new Map<number, Counts>()
      for await (const batch of queries.together({ ...span, domains })) {
        progress.report(batch)
        addByTime(sums, batch.results)
      }
      addPoints(tally, toPoints(sums), span, keep)
      return [tally]
    }
    const tallies = new Map(domains.map((domain) => [domain, emptyTally(domain, sparkSteps)]))
    for await (const batch of queries.eachDomain({ ...span, domains })) {
      progress.report(batch)
      for (const { domain, points } of batch.results) {
        const tally = tallies.get(domain)
        if (tally !== undefined) addPoints(tally, points, span, keep)
      }
    }
    return [...tallies.values()]
  } finally {
    progress.end()
  }
}

/** No requests are no failure, but they may be the sign of one. */
function tellNoData({ note, errPaint }: CommandContext, zone: string): void {
  note(
    `${errPaint.yellow('note:')} the service counts no requests in this time. If there were some, look at "service.timezone" (${zone}) ` +
      'in edgewise.yaml; counts of the last minutes may also be on their way.',
  )
}
