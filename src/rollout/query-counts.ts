import type { DomainCounts, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import {
  addCounts,
  createCounts,
  type Counts,
  type Point,
  type Question,
} from '../model/statistics.ts'
import type { QueryClient } from '../service/query/query-client.ts'

/**
 * Queries the points of each domain in a window.
 *
 * @param use gets points of a domain as they arrive; a domain without points is not among them
 * @throws EdgewiseError as `QueryClient.queryEachDomain`
 */
export async function querySeries(
  queries: QueryClient,
  domains: Domain[],
  { from, to }: Window,
  about: Pick<Question, 'grain' | 'area'>,
  use: (domain: Domain, points: Point[]) => void,
): Promise<void> {
  if (domains.length === 0) return
  for await (const { results } of queries.queryEachDomain({ domains, from, to, ...about }))
    for (const { domain, points } of results) use(domain, points)
}

/**
 * Queries the requests of each domain in a window; a domain without requests has empty counts.
 *
 * @param use gets the points of a domain as they arrive
 * @throws EdgewiseError as `QueryClient.queryEachDomain`
 */
export async function queryCounts(
  queries: QueryClient,
  domains: Domain[],
  window: Window,
  about: Pick<Question, 'grain' | 'area'>,
  use?: (points: Point[]) => void,
): Promise<DomainCounts> {
  const counts = new Map(domains.map((domain): [Domain, Counts] => [domain, createCounts()]))
  await querySeries(queries, domains, window, about, (domain, points) => {
    const sum = counts.get(domain)
    if (sum === undefined) return
    for (const point of points) addCounts(sum, point.counts)
    use?.(points)
  })
  return counts
}
