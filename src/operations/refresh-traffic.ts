import type { Settings, Desired } from './runtime/parts.ts'
import { createWeek } from '../core/health/summarize-week.ts'
import { EdgewiseError, type ErrorCode } from '../core/model/edgewise-error.ts'
import type { Domain } from '../core/model/item.ts'
import { append, addUp, halve } from '../core/model/lists.ts'
import { alignDown, sumRequests } from '../core/model/statistics.ts'
import { createTimeZone } from '../core/model/time/time-zone.ts'
import { listOthers, type DomainTraffic, type RefreshedTraffic } from '../core/model/traffic.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import { UnknownDomainError } from '../service/query/query.ts'
import { withQueries, type QueryPorts } from './runtime/connect.ts'
import { openState, refuseLocalState } from './runtime/open-state.ts'
import { chooseDomains, type QuestionProgress } from './stats.ts'

/** Domains of one query (specification, "GET /stat/httpcode/eachDomain": domains). */
const maxDomains = 10

/** Codes of the errors after which the figures of the domains are used alone. */
const refusals: ErrorCode[] = ['access', 'service-refused']

/** A whole day, [from, to) in ms since 1970, and what counts as bad in it beside 5xx and 0. */
interface Day {
  from: number
  to: number
  statuses: string[]
}

/** What was counted so far. */
interface Counted {
  domains: Map<Domain, DomainTraffic>
  /** Domains that the account does not have. */
  unknown: Domain[]
  /** Requests of the account; null before they are counted, and if the service does not sum it. */
  account: number | null
}

/**
 * Counts the requests of the last whole day, by the time zone of the service, of the domains that
 * have no figure of it, and records them. What was counted before a failure or an interrupt is
 * recorded, too. If the service does not sum the account, the sum of the workspace's domains stands
 * for it: shares are then too large rather than too small.
 *
 * @param names domains; empty: those of all manifests
 * @throws EdgewiseError `usage`, `access` when there is no token, `local-state`, `record-damaged`,
 *   and the errors of a query
 */
export async function refreshTraffic(
  workspace: Settings & Desired,
  names: Domain[],
  ports: QueryPorts<QuestionProgress>,
): Promise<RefreshedTraffic> {
  const { outside } = ports
  const domains = chooseDomains(names, workspace)
  const opened = await openState(workspace, outside)
  refuseLocalState(workspace.config, opened, outside.env)
  const known = await opened.store.loadTraffic()
  const at = Math.floor(outside.clock.now())
  const zone = createTimeZone(workspace.config.service.timezone)
  const to = alignDown(at, 'day', zone)
  const statuses = listOthers(workspace.config.rollout.health?.statuses)
  const day = { from: alignDown(to - 1, 'day', zone), to, statuses }
  const stale = domains.filter((domain) => {
    const figure = known.domains.get(domain)
    return !(figure && figure.at >= to && statuses.every((each) => figure.statuses?.includes(each)))
  })
  const counted: Counted = { domains: new Map(), unknown: [], account: null }
  const find = (domain: Domain) => counted.domains.get(domain) ?? known.domains.get(domain)
  let account: number | null = null
  try {
    if (stale.length > 0 || known.account === null) {
      await count(workspace, stale, { ...day, at }, counted, ports)
      const own = addUp(domains, (domain) => find(domain)?.requests ?? 0)
      if (counted.account !== null || names.length === 0)
        account = Math.max(counted.account ?? 0, own)
    }
  } finally {
    if (counted.domains.size > 0 || account !== null)
      await opened.store.recordTraffic({ domains: counted.domains, account, at })
  }
  return {
    day: new Date(zone.toLocal(day.from)).toISOString().slice(0, 10),
    counted: counted.domains.size,
    added: [...counted.domains.keys()].filter((domain) => !known.domains.has(domain)).length,
    fresh: domains.length - stale.length,
    idle: domains.filter((domain) => find(domain)?.requests === 0).length,
    unknown: counted.unknown,
    account: account ?? known.account,
    isSummed: account !== null && counted.account === null,
  }
}

/**
 * Counts domains, and the account.
 *
 * @param to gets what is counted, until a failure or an interrupt
 */
async function count(
  workspace: Settings,
  domains: Domain[],
  day: Day & { at: number },
  to: Counted,
  ports: QueryPorts<QuestionProgress>,
): Promise<void> {
  const all = Math.ceil(domains.length / maxDomains)
  await withQueries(workspace, ports, async (queries) => {
    const progress = ports.startProgress()
    try {
      for (let done = 0; done < all; done++) {
        progress.report({ done, all })
        const group = domains.slice(done * maxDomains, (done + 1) * maxDomains)
        const figures = await countDomains(queries, group, day, to.unknown)
        for (const [domain, figure] of figures) to.domains.set(domain, { ...figure, at: day.at })
      }
      to.account = await countAccount(queries, day)
    } finally {
      progress.end()
    }
  })
}

/**
 * Counts the requests of the whole account; null if the service refuses to sum it: for this token,
 * or of so many domains (specification, "GET /stat/httpcode" 2).
 */
async function countAccount(queries: QueryClient, { from, to }: Day): Promise<number | null> {
  let requests = 0
  try {
    const question = { domains: 'all', from, to, grain: 'day' } as const
    for await (const { results } of queries.queryTogether(question))
      for (const { counts } of results) requests += sumRequests(counts)
    return requests
  } catch (error) {
    const isRefused = error instanceof EdgewiseError && refusals.includes(error.code)
    if (isRefused) return null
    throw error
  }
}

/**
 * Counts the requests of up to ten domains by the hour; one without data has none. If the account
 * does not have one of them, each half is counted.
 *
 * @param unknown gets the domains that the account does not have
 */
async function countDomains(
  queries: QueryClient,
  domains: Domain[],
  day: Day,
  unknown: Domain[],
): Promise<Map<Domain, Omit<DomainTraffic, 'at'>>> {
  const { week, add, summarize } = createWeek(day, day.statuses)
  try {
    for await (const { results } of queries.queryEachDomain({ domains, ...week, grain: 'hour' }))
      for (const { domain, points } of results) add(domain, points)
    return summarize(domains)
  } catch (error) {
    if (!(error instanceof UnknownDomainError)) throw error
  }
  if (domains.length === 1) {
    append(unknown, domains)
    return new Map()
  }
  const [one, other] = halve(domains)
  const first = await countDomains(queries, one, day, unknown)
  return new Map([...first, ...(await countDomains(queries, other, day, unknown))])
}
