import { isObject, type Json } from '../../src/model/json.ts'

export type Point = [label: number, counts: Record<string, number>]

/** The series of an answer: one for each domain, or the only one. */
export function seriesIn(body: Json): Point[][] {
  const data = isObject(body) ? (body['data'] ?? null) : null
  if (Array.isArray(data)) return [data as unknown as Point[]]
  if (!isObject(data)) throw new Error(`expected series, got ${JSON.stringify(body).slice(0, 200)}`)
  return Object.values(data).map((series) => (series as unknown as { data: Point[] }).data)
}

export function byLabel(points: Point[]): Record<number, Record<string, number>> {
  return Object.fromEntries(points)
}

export function ascending(points: Point[]): boolean {
  return points.every(([label], i) => i === 0 || label > (points[i - 1]?.[0] ?? 0))
}

/** Counts added up over steps of so many seconds. */
export function summed(points: Point[], step: number): Record<number, Record<string, number>> {
  const sums: Record<number, Record<string, number>> = {}
  for (const [label, counts] of points)
    sums[label - (label % step)] = added(sums[label - (label % step)] ?? {}, counts)
  return sums
}

/** Two counts of statuses, added up. */
export function added(
  a: Record<string, number>,
  b: Record<string, number>,
): Record<string, number> {
  const sum = { ...a }
  for (const [status, count] of Object.entries(b)) sum[status] = (sum[status] ?? 0) + count
  return sum
}

/** All counts of a series together. */
export function totalOf(points: Point[]): Record<string, number> {
  return points.reduce<Record<string, number>>((sum, [, counts]) => added(sum, counts), {})
}
