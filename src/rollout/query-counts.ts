import type { DomainCounts, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import { addCounts, type Counts, type Grain } from '../model/statistics.ts'
import type { QueryClient } from '../service/query/query-client.ts'

/**
 * Queries the requests of each domain in a window; a domain without requests has empty counts.
 *
 * @throws EdgewiseError as `QueryClient.eachDomain`
 */
export async function queryCounts(
  queries: QueryClient,
  domains: Domain[],
  { from, to }: Window,
  grain: Grain,
): Promise<DomainCounts> {
  const all = new Map(domains.map((domain): [Domain, Counts] => [domain, {}]))
  if (domains.length === 0) return all
  for await (const { results } of queries.queryEachDomain({ domains, from, to, grain })) {
    for (const { domain, points } of results) {
      const counts = all.get(domain)
      if (counts !== undefined) for (const point of points) addCounts(counts, point.counts)
    }
  }
  return all
}
