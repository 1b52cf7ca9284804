import type { Domain } from '../model/item.ts'

/**
 * Grows waves from different writes and returns the one that splits fewest writes.
 *
 * @param writes domains of each write
 * @param left domains that are in no wave yet
 * @param size number of domains of the wave
 * @param fixed domains that belong to the wave
 * @param work maximum number of steps, over all writes that the wave may grow from
 */
export function growWave(
  writes: Domain[][],
  left: Domain[],
  size: number,
  fixed: Domain[],
  work: number,
): Domain[] {
  const free = new Set(left)
  const remaining = writes
    .map((write) => write.filter((domain) => free.has(domain)))
    .filter((write) => write.length > 0)
  const writesByDomain = new Map<Domain, number[]>(left.map((domain) => [domain, []]))
  for (const [i, write] of remaining.entries())
    for (const domain of write) writesByDomain.get(domain)?.push(i)
  const seeds =
    fixed.length > 0
      ? [null]
      : spreadEvenly(
          remaining.length,
          Math.max(1, Math.floor(work / (remaining.length + size * 20))),
        )
  let best: { wave: Domain[]; splitCount: number } | null = null
  for (const seed of seeds) {
    const found = growFromWrite(remaining, writesByDomain, size, fixed, seed)
    if (best === null || found.splitCount < best.splitCount) best = found
    if (best.splitCount === 0) break
  }
  return best?.wave ?? []
}

/**
 * Grows a wave from a write. The next domain is from the started write that lacks fewest domains,
 * else from the largest write that fits.
 */
function growFromWrite(
  remaining: Domain[][],
  writesByDomain: ReadonlyMap<Domain, number[]>,
  size: number,
  fixed: Domain[],
  seed: number | null,
): { wave: Domain[]; splitCount: number } {
  const wave = new Set<Domain>()
  const missing = remaining.map((write) => write.length)
  const untouched = groupByCount(missing)
  const started: Set<number>[] = untouched.map(() => new Set())
  const addDomain = (domain: Domain) => {
    wave.add(domain)
    for (const i of writesByDomain.get(domain) ?? []) {
      const count = missing[i] ?? 0
      untouched[count]?.delete(i)
      started[count]?.delete(i)
      missing[i] = count - 1
      if (count > 1) started[count - 1]?.add(i)
    }
  }
  for (const domain of fixed) addDomain(domain)
  let next = seed
  while (wave.size < size) {
    next ??=
      findFirst(started) ??
      findFirst(untouched.slice(0, size - wave.size + 1).toReversed()) ??
      findFirst(untouched)
    if (next === null) break
    const countNew = (domain: Domain) =>
      (writesByDomain.get(domain) ?? []).reduce(
        (sum, i) => sum + (missing[i] === remaining[i]?.length ? 1 : 0),
        0,
      )
    const [first, ...rest] = (remaining[next] ?? []).filter((domain) => !wave.has(domain))
    if (first === undefined) break
    addDomain(
      rest.reduce((least, domain) => (countNew(domain) < countNew(least) ? domain : least), first),
    )
    if (rest.length === 0) next = null
  }
  return { wave: [...wave], splitCount: started.reduce((sum, writes) => sum + writes.size, 0) }
}

/** Groups list indexes by value: `groupByCount([2, 1, 2])[2]` is 0 and 2. */
function groupByCount(counts: number[]): Set<number>[] {
  const largest = counts.reduce((max, count) => Math.max(max, count), 0)
  const indexes = Array.from({ length: largest + 1 }, () => new Set<number>())
  for (const [i, count] of counts.entries()) indexes[count]?.add(i)
  return indexes
}

function findFirst(sets: Set<number>[]): number | null {
  for (const set of sets) for (const member of set) return member
  return null
}

/** Chooses up to `max` of the numbers below `count`, evenly spread. */
function spreadEvenly(count: number, max: number): number[] {
  const step = Math.max(1, count / max)
  return Array.from({ length: Math.min(count, max) }, (_, i) => Math.floor(i * step))
}
