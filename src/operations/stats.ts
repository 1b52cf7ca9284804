import { isDomain } from '../catalog/value/formats.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import { addByTime, toPoints, type Counts, type Grain } from '../model/statistics.ts'
import { addPoints, createTally, type Tally } from '../model/tally.ts'
import { createTimeZone } from '../model/time-zone.ts'
import { sparkSteps, type Statistics } from '../report/stats/text.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { withQueries, type QueryPorts, type QueryProgress } from './with-queries.ts'

/** A question about status codes. */
export interface StatsRequest {
  /** Names of domains; those of all manifests when empty. `all` alone, in a sum: the account. */
  domains: string[]
  /** [from, to), ms since 1970. */
  from: number
  to: number
  grain: Grain
  /** One series over all domains. */
  sum: boolean
  /** Whether every point is returned, besides the counts of the whole time. */
  keepPoints: boolean
}

/** How many of all parts of a question are done. */
export interface QuestionProgress {
  done: number
  all: number
}

/**
 * Queries the counts of status codes, by domain or summed over domains. Needs the token, and
 * neither state nor the lock.
 *
 * @throws EdgewiseError `usage` for a name that is no domain, `access` when there is no token, and
 *   what a query throws
 */
export async function queryStats(
  workspace: LoadedWorkspace,
  request: StatsRequest,
  ports: QueryPorts<QuestionProgress>,
): Promise<Statistics> {
  const { from, to, grain, sum } = request
  const domains = chooseDomains(request, workspace)
  const tallies = await withQueries(workspace, ports, async (queries) => {
    const progress = await ports.startProgress()
    try {
      return sum || domains === 'all'
        ? [await tallySum(queries, domains, request, progress)]
        : await tallyEach(queries, domains, request, progress)
    } finally {
      progress.end()
    }
  })
  const zone = createTimeZone(workspace.config.service.timezone)
  return { from, to, grain, zone, sum: sum ? domains : null, tallies }
}

/** Chooses the domains that are named, or else those of all manifests. */
function chooseDomains(request: StatsRequest, { desired }: LoadedWorkspace): Domain[] | 'all' {
  const { domains, sum } = request
  // The service's own word for every domain of the account.
  if (sum && domains.length === 1 && domains[0] === 'all') return 'all'
  const distinct = new Set(domains.map((name) => name.toLowerCase()))
  const names = [...(distinct.size === 0 ? desired.keys() : distinct)]
  const wrong = names.find((name) => !isDomain(name))
  if (wrong !== undefined) {
    const message = `expected the name of a domain, got "${wrong}"`
    const example = 'Name domains such as www.example.com.'
    const hint = wrong === 'all' ? '"all" stands alone, and only with --sum.' : example
    throw new EdgewiseError('usage', message, hint)
  }
  if (names.length === 0) {
    const hint = 'Name the domains to ask for.'
    throw new EdgewiseError('usage', 'no manifest declares a domain', hint)
  }
  return names
}

async function tallySum(
  queries: QueryClient,
  domains: Domain[] | 'all',
  request: StatsRequest,
  progress: QueryProgress<QuestionProgress>,
): Promise<Tally> {
  const { from, to, grain, keepPoints } = request
  const sums = new Map<number, Counts>()
  for await (const { results, done, total } of queries.queryTogether({
    domains,
    from,
    to,
    grain,
  })) {
    progress.report({ done, all: total })
    addByTime(sums, results)
  }
  const tally = createTally(null, sparkSteps)
  addPoints(tally, toPoints(sums), request, keepPoints)
  return tally
}

async function tallyEach(
  queries: QueryClient,
  domains: Domain[],
  request: StatsRequest,
  progress: QueryProgress<QuestionProgress>,
): Promise<Tally[]> {
  const { from, to, grain, keepPoints } = request
  const tallies = new Map(domains.map((domain) => [domain, createTally(domain, sparkSteps)]))
  for await (const { results, done, total } of queries.queryEachDomain({
    domains,
    from,
    to,
    grain,
  })) {
    progress.report({ done, all: total })
    for (const { domain, points } of results) {
      const tally = tallies.get(domain)
      if (tally !== undefined) addPoints(tally, points, request, keepPoints)
    }
  }
  return [...tallies.values()]
}
