import type { Amount } from '../model/amount.ts'
import type { Domain } from '../model/item.ts'

/** How the domains of a plan are put into waves. */
export interface WaveProblem {
  /** Every domain that is written, in a fixed order. */
  domains: Domain[]
  /** Domains of each write, as if there were no waves. */
  writes: Domain[][]
  /** Cumulative shares or numbers; the last one is everything. */
  amounts: Amount[]
  /** Whether a domain belongs to the first wave. */
  isFirst(domain: Domain): boolean
}

/** Exchanges that are tried to let fewer writes be cut. */
const mostTries = 200_000
/** Steps of growing waves, over all writes that they may grow from. */
const mostWork = 10_000_000

/**
 * Puts domains into waves so that few writes are cut: a write whose domains lie in several waves has to be sent once for each. Waves
 * have the sizes that the amounts ask for, rounded up; domains that go first are in the first wave even where they are more
 * than it asks for. A wave that would have no domain is left out.
 *
 * @returns domain → wave, from 1. The same input gives the same waves.
 */
export function assignWaves(problem: WaveProblem): Map<Domain, number> {
  const { domains, amounts, isFirst } = problem
  const first = domains.filter(isFirst)
  const sizes = waveSizes(amounts, domains.length, first.length)
  const table = tableOf(problem)
  const waves = filled(table, sizes, first)
  exchange(table, waves, new Set(first))
  return waves
}

/** How many domains each wave has; at least `first` in the first one, none of them empty. */
export function waveSizes(amounts: Amount[], domains: number, first: number): number[] {
  const sizes: number[] = []
  let placed = 0
  for (const amount of amounts) {
    const share = 'count' in amount ? amount.count : Math.ceil((domains * amount.percent) / 100 - 1e-9)
    const until = Math.min(domains, Math.max(share, first))
    if (until > placed) sizes.push(until - placed)
    placed = Math.max(placed, until)
  }
  return sizes
}

interface Table {
  domains: Domain[]
  writes: Domain[][]
  /** The places of a domain's writes in `writes`. */
  writesOf: ReadonlyMap<Domain, number[]>
}

function tableOf({ domains, writes }: WaveProblem): Table {
  const writesOf = new Map<Domain, number[]>(domains.map((domain) => [domain, []]))
  for (const [i, write] of writes.entries()) for (const domain of write) writesOf.get(domain)?.push(i)
  return { domains, writes, writesOf }
}

/** One wave after the other; the last one is what is left. */
function filled(table: Table, sizes: number[], first: Domain[]): Map<Domain, number> {
  const waves = new Map<Domain, number>()
  for (const [k, size] of sizes.entries()) {
    const left = table.domains.filter((domain) => !waves.has(domain))
    const wave = k + 1 === sizes.length ? left : bestWave(table, left, size, k === 0 ? first : [], mostWork / sizes.length)
    for (const domain of wave) waves.set(domain, k + 1)
  }
  return waves
}

/** The wave that cuts fewest writes among those that grow from different writes. */
function bestWave(table: Table, left: Domain[], size: number, fixed: Domain[], work: number): Domain[] {
  const free = new Set(left)
  const open = table.writes.map((write) => write.filter((domain) => free.has(domain))).filter((write) => write.length > 0)
  const writesOf = new Map<Domain, number[]>(left.map((domain) => [domain, []]))
  for (const [i, write] of open.entries()) for (const domain of write) writesOf.get(domain)?.push(i)
  const seeds = fixed.length > 0 ? [null] : spread(open.length, Math.max(1, Math.floor(work / (open.length + size * 20))))
  let best: { wave: Domain[]; cut: number } | null = null
  for (const seed of seeds) {
    const found = grown(open, writesOf, size, fixed, seed)
    if (best === null || found.cut < best.cut) best = found
    if (best.cut === 0) break
  }
  return best?.wave ?? []
}

/** Grows a wave from a write: always a domain next of the write that is begun and lacks fewest, else of the largest that fits. */
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
    next ??= firstOf(begun) ?? firstOf(untouched.slice(0, size - wave.size + 1).toReversed()) ?? firstOf(untouched)
    if (next === null) break
    const fresh = (domain: Domain) => (writesOf.get(domain) ?? []).reduce((sum, i) => sum + (missing[i] === open[i]?.length ? 1 : 0), 0)
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

/** Exchanges two domains of different waves wherever fewer writes are cut then. */
function exchange({ writes, writesOf }: Table, waves: Map<Domain, number>, fixed: ReadonlySet<Domain>): void {
  const count = writes.map((write) => {
    const byWave = new Map<number, number>()
    for (const domain of write) byWave.set(waves.get(domain) ?? 0, (byWave.get(waves.get(domain) ?? 0) ?? 0) + 1)
    return byWave
  })
  const move = (domain: Domain, to: number): number => {
    const from = waves.get(domain) ?? 0
    let gained = 0
    for (const i of writesOf.get(domain) ?? []) {
      const byWave = count[i]
      if (byWave === undefined) continue
      const left = (byWave.get(from) ?? 0) - 1
      if (left === 0) {
        byWave.delete(from)
        gained++
      } else byWave.set(from, left)
      const there = byWave.get(to) ?? 0
      if (there === 0) gained--
      byWave.set(to, there + 1)
    }
    waves.set(domain, to)
    return gained
  }
  let tries = 0
  const cut = () => [...writes.keys()].filter((i) => (count[i]?.size ?? 0) > 1)
  for (let better = true; better && tries < mostTries;) {
    better = false
    const loose = [...new Set(cut().flatMap((i) => writes[i] ?? []))].filter((domain) => !fixed.has(domain))
    for (const [i, one] of loose.entries()) {
      for (let j = i + 1; j < loose.length; j++) {
        const other = loose[j] ?? one
        const [here, there] = [waves.get(one) ?? 0, waves.get(other) ?? 0]
        if (here === there) continue
        if (++tries > mostTries) return
        if (move(one, there) + move(other, here) > 0) {
          better = true
          continue
        }
        move(one, here)
        move(other, there)
      }
    }
  }
}
