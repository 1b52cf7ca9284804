import { addUp } from '../model/lists.ts'
import { emptySum, type Detector, type TrafficSum } from '../health/detectable.ts'
import type { Amount, HealthConfig } from '../model/config.ts'
import type { Domain } from '../model/item.ts'
import type { DomainTraffic } from '../model/traffic.ts'
import { collectKinds, type Kinds } from './wave-kinds.ts'

/** Traffic by which domains are assigned to waves. */
export interface WaveTraffic {
  /** Figures of the domains; one without any is in the last wave. */
  figures: ReadonlyMap<Domain, DomainTraffic>
  /** The health check that the figures fit; null without. */
  health: HealthConfig | null
  /** Foresees what a first wave detects; null if that is not known. */
  detector: Detector | null
  /** Rise that a first wave should detect, percentage points. */
  rise: number
}

/** Maximum of the requests and domains of a wave and those before it. */
interface Room {
  requests: number
  domains: number
}

/** Greater rises that a first wave is chosen for if none detects the one that it should. */
const greater = [2.5, 5, 10]
/** Share of all requests that a first wave may have in any case, so that it detects something. */
const maxFirstShare = 0.1

/**
 * Arranges domains by their requests. A share of a wave is one of all requests, and a maximum:
 *
 * - The first wave is the smallest that detects the rise, with the domains that go first, even
 *   beyond its share; else the smallest that detects a greater rise. Within its share, domains with
 *   other kinds of change join it.
 * - Smaller domains come before larger ones, and those without figures last.
 *
 * @param first domains that go first, with or without figures
 * @returns the domains in order; how many of them each wave ends with, and its maximum of requests
 */
export function arrangeByTraffic(
  domains: Domain[],
  first: Domain[],
  amounts: Amount[],
  kinds: Kinds,
  traffic: Omit<WaveTraffic, 'health'>,
): { order: Domain[]; ends: number[]; limits: number[] } {
  const count = (domain: Domain): number => traffic.figures.get(domain)?.requests ?? 0
  const add = (list: Iterable<Domain>) => addUp(list, count)
  const total = add(domains)
  const rooms = amounts.map((amount): Room =>
    'percent' in amount
      ? { requests: (total * amount.percent) / 100, domains: Infinity }
      : { requests: Infinity, domains: amount.count },
  )
  const [own = { requests: 0, domains: 0 }] = rooms
  const isFirst = new Set(first)
  const others = domains.filter((domain) => !isFirst.has(domain))
  const known = others
    .filter((domain) => traffic.figures.has(domain))
    .toSorted((a, b) => count(a) - count(b))
  const wave = new Set([...first, ...chooseFirst(known, first, rooms, traffic)])
  const tried = collectKinds(wave, kinds)
  let requests = add(wave)
  for (const domain of known) {
    const isNew = kinds.get(domain)?.some((kind) => !tried.has(kind)) === true
    const isFull = requests + count(domain) > own.requests || wave.size >= own.domains
    if (!isNew || isFull || wave.has(domain)) continue
    wave.add(domain)
    requests += count(domain)
    for (const kind of kinds.get(domain) ?? []) tried.add(kind)
  }
  const order = [...wave, ...known.filter((domain) => !wave.has(domain))]
  let placed = wave.size
  const ends = rooms.map((room, i) => {
    if (i === rooms.length - 1) return domains.length
    for (; i > 0 && placed < Math.min(order.length, room.domains); placed++) {
      const more = count(order[placed] ?? '')
      if (requests + more > room.requests) break
      requests += more
    }
    return placed
  })
  const unknown = others.filter((domain) => !traffic.figures.has(domain))
  return { order: [...order, ...unknown], ends, limits: rooms.map((room) => room.requests) }
}

/** Chooses the domains that join those that go first: at least one if none goes first. */
function chooseFirst(
  known: Domain[],
  first: Domain[],
  rooms: Room[],
  { figures, detector, rise }: Omit<WaveTraffic, 'health'>,
): Domain[] {
  const shares = rooms.map(({ requests }) => requests)
  const before = shares.slice(0, -1).filter((share) => share < Infinity)
  const wide = {
    requests: Math.max(maxFirstShare * (shares.at(-1) ?? 0), ...before),
    domains: (rooms[0]?.domains ?? 0) - first.length,
  }
  const narrow = { ...wide, requests: Math.min(wide.requests, shares[0] ?? 0) }
  const getFigures = (list: Domain[]) => list.flatMap((domain) => figures.get(domain) ?? [])
  if (detector !== null) {
    const search = createSearch(getFigures(known), getFigures(first), detector)
    const tries = [narrow, wide].flatMap((room) => greater.map((times) => ({ times, room })))
    for (const { times, room } of [{ times: 1, room: wide }, ...tries]) {
      const found = search(times * rise, room)
      if (found !== null) return known.slice(found.from, found.to)
    }
  }
  let requests = addUp(getFigures(first), (figure) => figure.requests)
  const fitting = known.filter((domain, i) => {
    requests += figures.get(domain)?.requests ?? 0
    return i < narrow.domains && requests <= narrow.requests
  })
  return first.length + fitting.length === 0 ? known.slice(0, 1) : fitting
}

/** Numbers of domains up to which each is tried; beyond, each is twice the one before. */
const maxTried = 10

/**
 * Creates the search for the fewest requests of domains of neighbouring sizes that, together with a
 * base, detect a rise.
 *
 * @param known ascending by requests
 */
function createSearch(known: DomainTraffic[], base: DomainTraffic[], detector: Detector) {
  const start = base.reduce(detector.add, emptySum)
  const sums = [emptySum]
  for (const figure of known) sums.push(detector.add(sums.at(-1) ?? emptySum, figure))
  const sum = (from: number, to: number): TrafficSum => {
    const compute = (key: keyof TrafficSum) =>
      start[key] + (sums[to] ?? emptySum)[key] - (sums[from] ?? emptySum)[key]
    return {
      domains: compute('domains'),
      requests: compute('requests'),
      bad: compute('bad'),
      quiet: compute('quiet'),
      varied: compute('varied'),
    }
  }
  return (rise: number, room: Room): { from: number; to: number } | null => {
    let best: { from: number; to: number; requests: number } | null = null
    const most = Math.min(known.length, room.domains)
    for (let size = start.domains > 0 ? 0 : 1; size <= most; size += size < maxTried ? 1 : size)
      for (let from = 0; from + size <= known.length; from++) {
        const all = sum(from, from + size)
        if (all.requests > room.requests || all.requests >= (best?.requests ?? Infinity)) break
        if (!detector.detects(all, rise)) continue
        best = { from, to: from + size, requests: all.requests }
        break
      }
    return best
  }
}
