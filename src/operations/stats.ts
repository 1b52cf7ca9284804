import type { Settings, Desired } from './runtime/parts.ts'
import { isAcceleratedDomain, suggestName } from '../core/catalog/value/formats.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Domain } from '../core/model/item.ts'
import {
  addByTime,
  alignDown,
  findEndLabels,
  grainMs,
  toPoints,
  type Counts,
  type Grain,
  type Point,
  type QueryArea,
  addPoints,
  createTally,
  type Tally,
} from '../core/model/statistics.ts'
import { createTimeZone, type TimeZone } from '../core/model/time/time-zone.ts'
import { sparkSteps, type Statistics } from '../outlets/report/stats/text.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import { RefusedQueryError } from '../service/query/query.ts'
import { listGrains } from '../service/query/split-question.ts'
import { withQueries, type QueryPorts, type QueryProgress } from './runtime/connect.ts'

/** Query of status-code counts. */
export interface StatsRequest {
  /**
   * Domain names; empty: the domains of all manifests. A sole `all`: a sum over the account.
   */
  domains: string[]
  /** [from, to), ms since 1970. */
  from: number
  to: number
  /** Null: the finest that the service accepts; only for the whole account. */
  grain: Grain | null
  /** One series over all domains. */
  sum: boolean
  area: QueryArea
  /** Position of the label of a point; the counted periods are those of [from, to) in any case. */
  labels: 'start' | 'end'
  /** Return every point, besides the total counts. */
  keepPoints: boolean
}

/** A request about known domains, by a known grain. */
type Counting = StatsRequest & { grain: Grain; zone: TimeZone }

/** Progress of a query in parts. */
export interface QuestionProgress {
  done: number
  all: number
}

/**
 * Queries the counts of status codes, by domain or summed over domains. Needs the token, but
 * neither state nor the lock.
 *
 * @throws EdgewiseError `usage` for an invalid domain name and for an area of the whole account,
 * `access` when there is no token, and the errors of a query
 */
export async function queryStats(
  workspace: Settings & Desired,
  request: StatsRequest,
  ports: QueryPorts<QuestionProgress>,
): Promise<Statistics> {
  const { from, to, area, labels } = request
  const zone = createTimeZone(workspace.config.service.timezone)
  // The service's keyword for all domains of the account.
  const isAll = request.domains.length === 1 && request.domains[0] === 'all'
  if (isAll) refuseAreaOfAll(request)
  const domains = isAll ? 'all' : chooseDomains(request.domains, workspace)
  const { grain, tallies } = await withQueries(workspace, ports, async (queries) => {
    const progress = ports.startProgress()
    try {
      if (domains === 'all') return await tallyAccount(queries, { ...request, zone }, progress)
      const counting = { ...request, grain: request.grain ?? 'minute5', zone }
      return {
        grain: counting.grain,
        tallies: request.sum
          ? [await tallySum(queries, domains, counting, progress)]
          : await tallyEach(queries, domains, counting, progress),
      }
    } finally {
      progress.end()
    }
  })
  const sum = request.sum || domains === 'all' ? domains : null
  return { from: alignDown(from, grain, zone), to, grain, zone, sum, area, labels, tallies }
}

/**
 * Selects the named domains, otherwise those of all manifests.
 *
 * @throws EdgewiseError `usage`
 */
export function chooseDomains(domains: Domain[], { desired }: Desired): Domain[] {
  const distinct = new Set(domains.map((name) => name.toLowerCase()))
  const names = [...(distinct.size === 0 ? desired.keys() : distinct)]
  const wrong = names.find((name) => !isAcceleratedDomain(name))
  if (wrong !== undefined) {
    const message = `expected the name of a domain, got "${wrong}"${suggestName(wrong)}`
    const example = 'Name domains such as www.example.com.'
    const hint = wrong === 'all' ? 'Use "all" without other names.' : example
    throw new EdgewiseError('usage', message, hint)
  }
  if (names.length === 0) {
    const hint = 'Name the domains to query.'
    throw new EdgewiseError('usage', 'no manifest declares a domain', hint)
  }
  return names
}

/** Refuses what the service offers by domain only (specification, "GET /stat/httpcode"). */
function refuseAreaOfAll({ area, labels }: StatsRequest): void {
  const options = [
    ...(area === 'all' ? [] : [`--area ${area}`]),
    ...(labels === 'start' ? [] : ['--forward']),
  ].join(' ')
  if (options === '') return
  throw new EdgewiseError(
    'usage',
    `"all" can't be combined with ${options}: the service offers it by domain only, not for ` +
      'the whole account',
    `"edgewise stats --sum ${options}" sums the domains of this workspace.`,
  )
}

/** Sums the whole account by the requested grain, or by the finest that the service accepts. */
async function tallyAccount(
  queries: QueryClient,
  request: Omit<Counting, 'grain'> & { grain: Grain | null },
  progress: QueryProgress<QuestionProgress>,
): Promise<{ grain: Grain; tallies: Tally[] }> {
  const { from, to, zone } = request
  const accepted = request.grain === null ? listGrains(from, to) : [request.grain]
  for (const [i, grain] of accepted.entries()) {
    const counting = { ...request, grain, from: alignDown(from, grain, zone) }
    try {
      return { grain, tallies: [await tallySum(queries, 'all', counting, progress)] }
    } catch (error) {
      if (!(error instanceof RefusedQueryError)) throw error
      if (i + 1 === accepted.length) throw createTooLargeError(error, request.grain)
    }
  }
  throw new TypeError('expected at least one grain')
}

function createTooLargeError({ message }: EdgewiseError, grain: Grain | null): EdgewiseError {
  const finest = 'Omit --grain for the finest grain that the service accepts. '
  return new EdgewiseError(
    'service-refused',
    message,
    `${grain === null ? '' : finest}"edgewise stats --sum" sums the domains of this workspace.`,
  )
}

/** Sums over domains: at the service, or here if the service offers the question by domain only. */
async function tallySum(
  queries: QueryClient,
  domains: Domain[] | 'all',
  request: Counting,
  progress: QueryProgress<QuestionProgress>,
): Promise<Tally> {
  const sums = new Map<number, Counts>()
  const { from, to, grain, area, labels } = request
  if (domains === 'all' || (area === 'all' && labels === 'start')) {
    const question = { domains, from, to, grain }
    for await (const { results, done, total } of queries.queryTogether(question)) {
      progress.report({ done, all: total })
      addByTime(sums, results)
    }
  } else
    await queryEach(queries, domains, request, progress, (_domain, points) =>
      addByTime(sums, points),
    )
  const tally = createTally(null, sparkSteps)
  addPoints(tally, toPoints(sums), getStepWindow(request), request.keepPoints)
  return tally
}

async function tallyEach(
  queries: QueryClient,
  domains: Domain[],
  request: Counting,
  progress: QueryProgress<QuestionProgress>,
): Promise<Tally[]> {
  const tallies = new Map(domains.map((domain) => [domain, createTally(domain, sparkSteps)]))
  const window = getStepWindow(request)
  await queryEach(queries, domains, request, progress, (domain, points) => {
    const tally = tallies.get(domain)
    if (tally !== undefined) addPoints(tally, points, window, request.keepPoints)
  })
  return [...tallies.values()]
}

/** Queries the points of each domain. */
async function queryEach(
  queries: QueryClient,
  domains: Domain[],
  { from, to, grain, area, labels, zone }: Counting,
  progress: QueryProgress<QuestionProgress>,
  use: (domain: Domain, points: Point[]) => void,
): Promise<void> {
  const window = labels === 'end' ? findEndLabels({ from, to }, grain, zone) : { from, to }
  const question = { domains, ...window, grain, area, labels }
  for await (const { results, done, total } of queries.queryEachDomain(question)) {
    progress.report({ done, all: total })
    for (const { domain, points } of results) use(domain, points)
  }
}

/** Returns the window that the steps of a tally divide, by the labels of the points. */
function getStepWindow({ from, to, grain, labels }: Counting): { from: number; to: number } {
  const shift = labels === 'end' ? grainMs[grain] : 0
  return { from: from + shift, to: to + shift }
}
