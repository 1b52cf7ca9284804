import { isObject, type Json } from '../../src/core/model/json.ts'

export type Point = [label: number, counts: Record<string, number>]

/** Parses the series of an answer: one for each domain, or the only one. */
export function parseSeries(body: Json): Point[][] {
  const data = isObject(body) ? (body['data'] ?? null) : null
  if (Array.isArray(data)) return [data as unknown as Point[]]
  if (!isObject(data)) throw new Error(`expected series, got ${JSON.stringify(body).slice(0, 200)}`)
  return Object.values(data).map((series) => (series as unknown as { data: Point[] }).data)
}

export function indexByLabel(points: Point[]): Record<number, Record<string, number>> {
  return Object.fromEntries(points)
}

export function isAscending(points: Point[]): boolean {
  return points.every(([label], i) => i === 0 || label > (points[i - 1]?.[0] ?? 0))
}

/** Sums counts over steps of `step` seconds. */
export function sumBySteps(points: Point[], step: number): Record<number, Record<string, number>> {
  const sums: Record<number, Record<string, number>> = {}
  for (const [label, counts] of points)
    sums[label - (label % step)] = addCounts(sums[label - (label % step)] ?? {}, counts)
  return sums
}

/** Adds two counts of statuses. */
export function addCounts(
  a: Record<string, number>,
  b: Record<string, number>,
): Record<string, number> {
  const sum = { ...a }
  for (const [status, count] of Object.entries(b)) sum[status] = (sum[status] ?? 0) + count
  return sum
}

/** Sums all counts of a series. */
export function sumPoints(points: Point[]): Record<string, number> {
  return points.reduce<Record<string, number>>((sum, [, counts]) => addCounts(sum, counts), {})
}
