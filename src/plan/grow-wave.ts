import type { Domain } from '../model/item.ts'

/**
 * The wave that cuts fewest writes among those that grow from different writes.
 *
 * @param writes domains of each write
 * @param left domains that are in no wave yet
 * @param size how many of them the wave has
 * @param fixed domains that belong to it
 * @param work the most steps, over all writes that it may grow from
 */
export function growWave(
  writes: Domain[][],
  left: Domain[],
  size: number,
  fixed: Domain[],
  work: number,
): Domain[] {
  const free = new Set(left)
  const open = writes
    .map((write) => write.filter((domain) => free.has(domain)))
    .filter((write) => write.length > 0)
  const writesOf = new Map<Domain, number[]>(left.map((domain) => [domain, []]))
  for (const [i, write] of open.entries()) for (const domain of write) writesOf.get(domain)?.push(i)
  const seeds =
    fixed.length > 0
      ? [null]
      : spread(open.length, Math.max(1, Math.floor(work / (open.length + size * 20))))
  let best: { wave: Domain[]; cut: number } | null = null
  for (const seed of seeds) {
    const found = grown(open, writesOf, size, fixed, seed)
    if (best === null || found.cut < best.cut) best = found
    if (best.cut === 0) break
  }
  return best?.wave ?? []
}

/**
 * Grows a wave from a write: always a domain next of the write that is begun and lacks fewest, else
 * of the largest that fits.
 */
function grown(
  open: Domain[][],
  writesOf: ReadonlyMap<Domain, number[]>,
  size: number,
  fixed: Domain[],
  seed: number | null,
): { wave: Domain[]; cut: number } {
  const wave = new Set<Domain>()
  const missing = open.map((write) => write.length)
  const untouched = byCount(missing)
  const begun: Set<number>[] = untouched.map(() => new Set())
  const take = (domain: Domain) => {
    wave.add(domain)
    for (const i of writesOf.get(domain) ?? []) {
      const count = missing[i] ?? 0
      untouched[count]?.delete(i)
      begun[count]?.delete(i)
      missing[i] = count - 1
      if (count > 1) begun[count - 1]?.add(i)
    }
  }
  for (const domain of fixed) take(domain)
  let next = seed
  while (wave.size < size) {
    next ??=
      firstOf(begun) ??
      firstOf(untouched.slice(0, size - wave.size + 1).toReversed()) ??
      firstOf(untouched)
    if (next === null) break
    const fresh = (domain: Domain) =>
      (writesOf.get(domain) ?? []).reduce(
        (sum, i) => sum + (missing[i] === open[i]?.length ? 1 : 0),
        0,
      )
    const [first, ...rest] = (open[next] ?? []).filter((domain) => !wave.has(domain))
    if (first === undefined) break
    take(rest.reduce((least, domain) => (fresh(domain) < fresh(least) ? domain : least), first))
    if (rest.length === 0) next = null
  }
  return { wave: [...wave], cut: begun.reduce((sum, writes) => sum + writes.size, 0) }
}

/** The places in a list by their numbers: `byCount([2, 1, 2])[2]` is 0 and 2. */
function byCount(counts: number[]): Set<number>[] {
  const largest = counts.reduce((sofar, count) => Math.max(sofar, count), 0)
  const places = Array.from({ length: largest + 1 }, () => new Set<number>())
  for (const [i, count] of counts.entries()) places[count]?.add(i)
  return places
}

function firstOf(sets: Set<number>[]): number | null {
  for (const set of sets) for (const one of set) return one
  return null
}

/** Up to `most` of the numbers below `count`, evenly spread. */
function spread(count: number, most: number): number[] {
  const step = Math.max(1, count / most)
  return Array.from({ length: Math.min(count, most) }, (_, i) => Math.floor(i * step))
}
