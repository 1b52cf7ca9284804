import type { JsonObject } from '../../model/json.ts'
import { countPrefetches, type PrefetchQuery, type PrefetchRecord } from '../../model/prefetch.ts'

/** Prefetch records as machine output, `edgewise.prefetch/1`. Times in UTC. */
export function buildPrefetchJson(
  query: PrefetchQuery,
  records: PrefetchRecord[],
  complete: boolean,
): JsonObject {
  return {
    format: 'edgewise.prefetch/1',
    query:
      'task' in query
        ? { task: query.task }
        : { from: query.from, to: query.to, url: query.url ?? null },
    complete,
    summary: { total: records.length, ...countPrefetches(records) },
    records: records.map(({ id, url, status, createdAt, completedAt }) => ({
      id,
      url,
      status,
      createdAt: new Date(createdAt).toISOString(),
      completedAt: completedAt === null ? null : new Date(completedAt).toISOString(),
    })),
  }
}
