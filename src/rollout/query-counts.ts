import { append } from '../model/append.ts'
import type { DomainCounts, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import { addCounts, type Counts, type Point, type Question } from '../model/statistics.ts'
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
  about: Pick<Question, 'grain' | 'area'>,
): Promise<Map<Domain, Point[]>> {
  const all = new Map(domains.map((domain): [Domain, Point[]] => [domain, []]))
  if (domains.length === 0) return all
  for await (const { results } of queries.queryEachDomain({ domains, from, to, ...about }))
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
  about: Pick<Question, 'grain' | 'area'>,
): Promise<DomainCounts> {
  const series = await querySeries(queries, domains, window, about)
  return new Map(
    [...series].map(([domain, points]) => {
      const counts: Counts = {}
      for (const point of points) addCounts(counts, point.counts)
      return [domain, counts]
    }),
  )
}
