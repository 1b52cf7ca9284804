import type { Amount } from '../model/config.ts'
import type { Domain } from '../model/item.ts'
import type { Progress } from '../model/parallel.ts'
import { annealWaves, type WaveLoad } from './anneal-waves.ts'
import { arrangeByTraffic, type WaveTraffic } from './traffic-waves.ts'
import { choosePioneers, collectKinds, type Kinds } from './wave-kinds.ts'

/** Input of `assignWaves`. */
interface WaveProblem {
  /** Every domain that is written, in a fixed order. */
  domains: Domain[]
  /** Domains of the writes with equal items when there are no waves, for each set of items. */
  groups: Domain[][]
  /** Maximum number of domains of a write. */
  width: number
  /** Cumulative shares or numbers of domains; the last one covers all domains. */
  amounts: Amount[]
  /** Tests whether a domain belongs to the first wave. */
  isFirst(domain: Domain): boolean
  /** Each kind of change starts in the earliest wave that has room for it. */
  kinds?: Kinds
  /** Shares are shares of requests; absent: of domains. */
  traffic?: WaveTraffic
  /** Number of exchanges of domains to try. */
  steps: number
  progress?: Progress
}

/** Waves of domains. */
export interface AssignedWaves {
  /** Domain → wave number, from 1. */
  waves: Map<Domain, number>
  /** Number of domains placed by the end of each wave, empty waves included. */
  ends: number[]
}

/**
 * Assigns domains to waves so that the waves take few writes. Each wave takes its own writes, one
 * for every `width` of its domains in a group.
 *
 * - Wave sizes follow the amounts, rounded up; by traffic, as `arrangeByTraffic` says, less up to a
 *   quarter of the requests of a wave. Empty waves are left out.
 * - Domains that go first are all in the first wave, even if it grows beyond its amount.
 * - Kinds of change take precedence over few writes: a kind starts in the first wave with room for
 *   it.
 *
 * Deterministic.
 */
export function assignWaves(problem: WaveProblem): AssignedWaves {
  const { domains, groups, width, isFirst, steps, progress } = problem
  const kinds: Kinds = problem.kinds ?? new Map()
  const first = domains.filter(isFirst)
  const { ends, waves, fixed, dueWaves, load } =
    problem.traffic === undefined
      ? placeByCount(problem, first, kinds)
      : placeByTraffic(problem, first, kinds, problem.traffic)
  const waveCount = listSizes(ends).length
  const numbers = new Map(domains.map((domain, i) => [domain, i]))
  const toNumbers = (names: Iterable<Domain>) =>
    [...names].map((domain) => numbers.get(domain) ?? 0)
  const dueKinds = new Map([...dueWaves.keys()].map((kind, i) => [kind, i]))
  annealWaves(
    {
      waves,
      waveCount,
      groups: groups.map(toNumbers),
      width,
      fixed: new Set(toNumbers(fixed)),
      kinds: domains.map((domain) =>
        [...new Set(kinds.get(domain))].flatMap((kind) => dueKinds.get(kind) ?? []),
      ),
      dueWaves: [...dueWaves.values()],
      load,
    },
    waveCount < 2 ? 0 : steps,
    createRandom(1),
    progress,
  )
  return { waves: new Map(domains.map((domain, i) => [domain, (waves[i] ?? 0) + 1])), ends }
}

/** Domains in waves from 0, before any exchange. */
interface Placed {
  ends: number[]
  /** Wave of each domain. */
  waves: Int32Array
  /** Domains that must stay. */
  fixed: ReadonlySet<Domain>
  /** Kind of change → its due wave. */
  dueWaves: ReadonlyMap<string, number>
  load: WaveLoad | null
}

function placeByCount({ domains, amounts }: WaveProblem, first: Domain[], kinds: Kinds): Placed {
  const ends = computeWaveEnds(amounts, domains.length, first.length)
  const sizes = listSizes(ends)
  const { waveByDomain, fixed, dueWaves } = placePioneers(domains, sizes, first, kinds)
  return { ends, waves: fillWaves(domains, sizes, waveByDomain), fixed, dueWaves, load: null }
}

/** Places domains by their requests; those of the first wave and those without figures stay. */
function placeByTraffic(
  { domains, amounts }: WaveProblem,
  first: Domain[],
  kinds: Kinds,
  traffic: WaveTraffic,
): Placed {
  const { order, ends, limits } = arrangeByTraffic(domains, first, amounts, kinds, traffic)
  const present = [...ends.keys()].filter((i) => (ends[i] ?? 0) > (ends[i - 1] ?? 0))
  const waveByDomain = new Map<Domain, number>()
  const dueWaves = new Map<string, number>()
  for (const [wave, i] of present.entries())
    for (const domain of order.slice(ends[i - 1] ?? 0, ends[i])) {
      waveByDomain.set(domain, wave)
      const isLast = wave === present.length - 1
      for (const kind of isLast ? [] : (kinds.get(domain) ?? []))
        if (!dueWaves.has(kind)) dueWaves.set(kind, wave)
    }
  const isFixed = (domain: Domain) => waveByDomain.get(domain) === 0 || !traffic.figures.has(domain)
  return {
    ends,
    waves: Int32Array.from(domains, (domain) => waveByDomain.get(domain) ?? 0),
    fixed: new Set(domains.filter(isFixed)),
    dueWaves,
    load: {
      requests: Float64Array.from(domains, (each) => traffic.figures.get(each)?.requests ?? 0),
      // No other domain joins the first wave.
      limits: present.map((i, wave) => (wave === 0 ? 0 : (limits[i] ?? 0))),
    },
  }
}

/** Lists the number of domains of each wave without the empty ones. */
export function listSizes(ends: number[]): number[] {
  return ends.map((end, i) => end - (ends[i - 1] ?? 0)).filter((size) => size > 0)
}

/**
 * Computes the number of domains placed by the end of each wave, empty waves included: at least
 * `first` in the first.
 */
export function computeWaveEnds(amounts: Amount[], domains: number, first: number): number[] {
  let placed = 0
  return amounts.map((amount) => {
    const share =
      'count' in amount ? amount.count : Math.ceil((domains * amount.percent) / 100 - 1e-9)
    placed = Math.max(placed, Math.min(domains, Math.max(share, first)))
    return placed
  })
}

/**
 * Places the domains that go first, and for each kind of change a domain in the earliest wave with
 * room.
 *
 * @returns the waves of these domains, from 0; those that must stay, since their wave has no room
 * for another kind; and the due wave of each kind that another domain of its wave may try as well
 */
function placePioneers(domains: Domain[], sizes: number[], first: Domain[], kinds: Kinds) {
  const waveByDomain = new Map(first.map((domain) => [domain, 0]))
  const fixed = new Set(first)
  const dueWaves = new Map<string, number>()
  const tried = collectKinds(first, kinds)
  const all = collectKinds(domains, kinds)
  for (const [wave, size] of sizes.slice(0, -1).entries()) {
    if (tried.size === all.size) break
    const pioneers = choosePioneers(
      domains.filter((domain) => !waveByDomain.has(domain)),
      wave === 0 ? size - first.length : size,
      kinds,
      tried,
    )
    for (const domain of pioneers) waveByDomain.set(domain, wave)
    for (const kind of collectKinds(pioneers, kinds)) {
      if (!tried.has(kind)) dueWaves.set(kind, wave)
      tried.add(kind)
    }
    if (tried.size < all.size) for (const domain of pioneers) fixed.add(domain)
  }
  return { waveByDomain, fixed, dueWaves }
}

/** Fills the waves with the other domains in order; returns the wave of each domain, from 0. */
function fillWaves(
  domains: Domain[],
  sizes: number[],
  placed: ReadonlyMap<Domain, number>,
): Int32Array {
  const room = [...sizes]
  for (const wave of placed.values()) room[wave] = (room[wave] ?? 0) - 1
  let next = 0
  return Int32Array.from(domains, (domain) => {
    const own = placed.get(domain)
    if (own !== undefined) return own
    while (room[next] === 0) next++
    room[next] = (room[next] ?? 0) - 1
    return next
  })
}

/**
 * Finds the waves of a plan that need approval, by their numbers in the plan. A plan has fewer
 * waves than configured when some of them are empty.
 *
 * @param approval numbers of configured waves, from 1
 * @param ends number of domains placed by the end of each configured wave
 */
export function findApprovalWaves(approval: number[], ends: number[]): number[] {
  const present = ends.flatMap((end, i) => (end > (ends[i - 1] ?? 0) ? [i + 1] : []))
  return placeApprovals(approval, present)
}

/**
 * Places approvals in the waves that have domains. The approval of an empty wave moves to the next
 * wave with domains, or to the last one if none follows: it is never lost.
 *
 * @param numbers numbers of the waves that need approval
 * @param present numbers of the waves that have domains, ascending
 * @returns places in `present`, from 1
 */
export function placeApprovals(numbers: number[], present: number[]): number[] {
  if (present.length === 0) return []
  const places = numbers.map((number) =>
    Math.min(present.length, present.filter((wave) => wave < number).length + 1),
  )
  return [...new Set(places)].toSorted((a, b) => a - b)
}

/** Creates a seeded generator of pseudo-random numbers in [0, 1) (xorshift32). */
export function createRandom(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 0x1_0000_0000
  }
}
