import { emptySum, type Detector, type TrafficSum } from '../health/detectable.ts'
import type { Amount } from '../model/config.ts'
import type { Domain } from '../model/item.ts'
import type { DomainTraffic } from '../model/traffic.ts'
import { collectKinds, type Kinds } from './wave-kinds.ts'

/** Traffic by which domains are assigned to waves. */
export interface WaveTraffic {
  /** Figures of the domains; one without any is in the last wave. */
  figures: ReadonlyMap<Domain, DomainTraffic>
  /** Finds out what a first wave detects; null if that is not known. */
  detector: Detector | null
  /** Rise that the first wave should detect, percentage points. */
  rise: number
}

/** Domains in the order of their waves. */
interface Arranged {
  order: Domain[]
  /** Number of domains placed by the end of each wave. */
  ends: number[]
  /** Maximum number of requests by the end of each wave. */
  limits: number[]
}

interface Candidate {
  domain: Domain
  traffic: DomainTraffic
}

/** Room of the first wave: requests, and domains beside those that go first. */
interface Room {
  requests: number
  domains: number
}

/** Greater rises that a first wave is chosen for if it can't detect the one that it should. */
const greater = [2.5, 5, 10]
/** Share of all requests that a first wave may have in any case, so that it detects something. */
const maxFirstShare = 0.1

/**
 * Arranges domains by their requests; shares of waves are shares of all requests, and not exceeded
 * by rounding. The first wave is the smallest that detects the rise, with those that go first; if
 * none does, the smallest within its share that detects a greater one. Domains with kinds of change
 * that it does not try join it as far as its share allows. Smaller domains come before larger ones,
 * and those without figures last.
 *
 * @param first domains that go first, with or without figures
 */
export function arrangeByTraffic(
  domains: Domain[],
  first: Domain[],
  amounts: Amount[],
  kinds: Kinds,
  waveTraffic: WaveTraffic,
): Arranged {
  const { figures } = waveTraffic
  const getRequests = (domain: Domain): number => figures.get(domain)?.requests ?? 0
  const isFirst = new Set(first)
  const others = domains.filter((domain) => !isFirst.has(domain))
  const known = others
    .flatMap((domain): Candidate[] => {
      const traffic = figures.get(domain)
      return traffic === undefined ? [] : [{ domain, traffic }]
    })
    .toSorted((a, b) => a.traffic.requests - b.traffic.requests)
  const total = domains.reduce((sum, domain) => sum + getRequests(domain), 0)
  const limits = amounts.map((amount) =>
    'percent' in amount ? (total * amount.percent) / 100 : Infinity,
  )
  const counts = amounts.map((amount) => ('count' in amount ? amount.count : Infinity))
  const largest = Math.max(
    maxFirstShare * total,
    ...limits.slice(0, -1).filter((limit) => limit < Infinity),
  )
  const room = {
    requests: Math.min(limits[0] ?? 0, largest),
    domains: (counts[0] ?? 0) - first.length,
  }
  const chosen = chooseFirst(known, first, room, largest, waveTraffic)
  const wave = new Set([...first, ...chosen])
  let requests = [...wave].reduce((sum, domain) => sum + getRequests(domain), 0)
  const tried = collectKinds(wave, kinds)
  for (const { domain, traffic } of known) {
    const isNew = kinds.get(domain)?.some((kind) => !tried.has(kind)) === true
    if (!isNew || wave.has(domain) || wave.size >= (counts[0] ?? 0)) continue
    if (requests + traffic.requests > room.requests) break
    wave.add(domain)
    requests += traffic.requests
    for (const kind of kinds.get(domain) ?? []) tried.add(kind)
  }
  const later = known.filter(({ domain }) => !wave.has(domain))
  let placed = 0
  const ends = amounts.map((_, i) => {
    if (i === amounts.length - 1) return domains.length
    for (; i > 0 && placed < later.length; placed++) {
      const more = later[placed]?.traffic.requests ?? 0
      const isFull = wave.size + placed >= (counts[i] ?? 0) || requests + more > (limits[i] ?? 0)
      if (isFull) break
      requests += more
    }
    return wave.size + placed
  })
  const unknown = others.filter((domain) => !figures.has(domain))
  return { order: [...wave, ...later.map(({ domain }) => domain), ...unknown], ends, limits }
}

/** Chooses the domains that join those that go first: at least one if none goes first. */
function chooseFirst(
  known: Candidate[],
  first: Domain[],
  room: Room,
  largest: number,
  { figures, detector, rise }: WaveTraffic,
): Domain[] {
  const own = first.flatMap((domain) => figures.get(domain) ?? [])
  if (detector !== null) {
    const base = own.reduce((sum, traffic) => detector.add(sum, traffic), emptySum)
    const search = createSearch(known, base, detector)
    const most = { ...room, requests: largest }
    const found =
      search(rise, most) ??
      findFirst(greater, (times) => search(times * rise, room)) ??
      findFirst(greater, (times) => search(times * rise, most))
    if (found !== null) return found
  }
  let requests = own.reduce((sum, traffic) => sum + traffic.requests, 0)
  const fitting = known.findIndex(({ traffic }, i) => {
    requests += traffic.requests
    return requests > room.requests || i >= room.domains
  })
  const count = fitting === -1 ? known.length : fitting
  return known.slice(0, first.length === 0 ? Math.max(1, count) : count).map(({ domain }) => domain)
}

function findFirst<T, U>(list: T[], find: (value: T) => U | null): U | null {
  for (const value of list) {
    const found = find(value)
    if (found !== null) return found
  }
  return null
}

/** Numbers of domains up to which each is tried; beyond, each is twice the one before. */
const maxTried = 10

/**
 * Creates the search for the smallest set of domains of neighbouring sizes that detects a rise
 * together with a base.
 *
 * @param known ascending by requests
 */
function createSearch(known: Candidate[], base: TrafficSum, { add, detects }: Detector) {
  const sums = [emptySum]
  for (const { traffic } of known) sums.push(add(sums.at(-1) ?? emptySum, traffic))
  const sum = (from: number, to: number): TrafficSum => {
    const [before, all] = [sums[from] ?? emptySum, sums[to] ?? emptySum]
    const compute = (key: keyof TrafficSum) => base[key] + all[key] - before[key]
    return {
      domains: compute('domains'),
      requests: compute('requests'),
      bad: compute('bad'),
      quiet: compute('quiet'),
      varied: compute('varied'),
    }
  }
  return (rise: number, room: Room): Domain[] | null => {
    let best: { from: number; to: number; requests: number } | null = null
    const most = Math.min(known.length, room.domains)
    for (let size = base.domains > 0 ? 0 : 1; size <= most; size += size < maxTried ? 1 : size) {
      for (let from = 0; from + size <= known.length; from++) {
        const traffic = sum(from, from + size)
        if (traffic.requests > room.requests) break
        if (best !== null && traffic.requests >= best.requests) break
        if (!detects(traffic, rise)) continue
        best = { from, to: from + size, requests: traffic.requests }
        break
      }
    }
    return best === null ? null : known.slice(best.from, best.to).map(({ domain }) => domain)
  }
}
