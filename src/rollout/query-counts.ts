import { append } from '../model/append.ts'
import type { DomainCounts, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import { addCounts, type Counts, type Grain, type Point } from '../model/statistics.ts'
import type { QueryClient } from '../service/query/query-client.ts'

/**
 * Queries the points of each domain in a window.
 *
 * @throws EdgewiseError as `QueryClient.queryEachDomain`
 */
export async function querySeries(
  queries: QueryClient,
  domains: Domain[],
  { from, to }: Window,
  grain: Grain,
): Promise<Map<Domain, Point[]>> {
  const all = new Map(domains.map((domain): [Domain, Point[]] => [domain, []]))
  if (domains.length === 0) return all
  for await (const { results } of queries.queryEachDomain({ domains, from, to, grain }))
    for (const { domain, points } of results) append(all.get(domain) ?? [], points)
  return all
}

/**
 * Queries the requests of each domain in a window; a domain without requests has empty counts.
 *
 * @throws EdgewiseError as `QueryClient.queryEachDomain`
 */
export async function queryCounts(
  queries: QueryClient,
  domains: Domain[],
  window: Window,
  grain: Grain,
): Promise<DomainCounts> {
  const series = await querySeries(queries, domains, window, grain)
  return new Map(
    [...series].map(([domain, points]) => {
      const counts: Counts = {}
      for (const point of points) addCounts(counts, point.counts)
      return [domain, counts]
    }),
  )
}
