import type { Sample } from '../model/health.ts'
import type { Counts } from '../model/statistics.ts'

/** Counts all requests, and the bad ones. */
export type CountSample = (counts: Counts) => Sample

/** Creates the count of requests with these status codes; `5xx` stands for 500 to 599. */
export function createSampleCount(statuses: string[]): CountSample {
  const codes = new Set(statuses.map((status) => status.toLowerCase()))
  const known = new Map<string, boolean>()
  const isBad = (status: string): boolean => {
    let bad = known.get(status)
    if (bad === undefined) {
      bad = codes.has(status) || (status.length === 3 && codes.has(`${status[0]}xx`))
      known.set(status, bad)
    }
    return bad
  }
  return (counts) => {
    let [requests, bad] = [0, 0]
    for (const status of Object.keys(counts)) {
      const count = counts[status] ?? 0
      requests += count
      if (isBad(status)) bad += count
    }
    return { requests, bad }
  }
}
