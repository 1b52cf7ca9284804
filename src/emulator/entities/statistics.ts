import type { Domain } from '../../core/model/item.ts'
import { buildBehaviour, computeShares, type Behaviour } from './behaviour.ts'
import type { Period } from './periods.ts'
import { getValueAt, type Timeline } from './timeline.ts'
import {
  statuses,
  drawTraffic,
  type Area,
  areaSalt,
  computeHourlyRequests,
  type Traffic,
  computeGustFactors,
} from './traffic.ts'
import { draw } from './chance.ts'

/** Conditions of the requests of a domain over time. */
export interface History {
  behaviour: Timeline<Behaviour>
  /** Origins that did not answer. */
  dead: Timeline<ReadonlySet<string>>
}

const unconfigured = buildBehaviour(new Map())
const none: ReadonlySet<string> = new Set()

/**
 * Counts all statuses in each period, summed over domains and areas: a function of the seed and the
 * histories of the domains.
 *
 * @param gustFactor largest factor of gusts of errors; null for none
 */
export function countRequests(
  seed: string,
  histories: ReadonlyMap<Domain, History>,
  periods: Period[],
  from: readonly Area[],
  gustFactor: number | null = null,
): Counts {
  const counts = new Float64Array(periods.length * statuses.length)
  for (const [domain, history] of histories) {
    const traffic = drawTraffic(seed, domain, gustFactor)
    const pieces = buildPieces(history, (behaviour, dead) => ({
      cn: computeShares(traffic, behaviour, 'cn', dead),
      abroad: computeShares(traffic, behaviour, 'abroad', dead),
    }))
    for (const area of from) addCounts(counts, periods, traffic, area, pieces)
  }
  return counts
}

function buildPieces(
  { behaviour, dead }: History,
  shares: (behaviour: Behaviour, dead: ReadonlySet<string>) => Piece['shares'],
): Piece[] {
  const starts = new Set([
    -Infinity,
    ...behaviour.map(([from]) => from),
    ...dead.map(([from]) => from),
  ])
  return [...starts]
    .toSorted((a, b) => a - b)
    .map((from) => ({
      from,
      shares: shares(getValueAt(behaviour, from) ?? unconfigured, getValueAt(dead, from) ?? none),
    }))
}

/**
 * Formats the points of a series as JSON text, directly because of their number. Only codes that
 * occurred appear.
 */
export function formatPoints(counts: Counts, periods: Period[]): string {
  const points = periods.map(({ label }, p) => {
    let text = ''
    for (let s = 0; s < statuses.length; s++) {
      const count = counts[p * statuses.length + s] ?? 0
      if (count > 0) text += `${text === '' ? '' : ','}"${statuses[s]}":${count}`
    }
    return `[${label},{${text}}]`
  })
  return `[${points.join(',')}]`
}

/** Share of a domain's requests that ends in each status, by area, from a minute on. */
interface Piece {
  /** Minutes since 1970. */
  from: number
  shares: Record<Area, Float64Array>
}

/** Counts of statuses: those of period `p` start at `p * statuses.length`. */
type Counts = Float64Array

/**
 * Draws of one hour. `end` is the last minute requested, `before` the share of the hour before it.
 */
interface Hour {
  hour: number
  shares: Float64Array
  requests: number[]
  phases: number[]
  /** Sums of the factors of gusts of 4xx and of 5xx up to each minute; null without gusts. */
  gusts: [Float64Array | null, Float64Array | null] | null
  end: number
  before: number
}

/**
 * Adds the requests of one domain from one area in each period (ascending) to `counts`. An hour is
 * drawn as a whole and split into minutes by a running total, so that the counts of minutes add up
 * exactly to those of longer periods, and long periods need not visit minutes. `pieces` ascend, and
 * the first starts before all periods.
 */
function addCounts(
  counts: Counts,
  periods: Period[],
  traffic: Traffic,
  area: Area,
  pieces: Piece[],
): void {
  let piece = 0
  let state: Hour | null = null
  for (let p = 0; p < periods.length; p++) {
    const { from, to } = periods[p] as Period
    for (let at = from; at < to;) {
      while (at >= findStart(pieces, piece + 1)) piece++
      while (at < findStart(pieces, piece)) piece--
      const hour = Math.floor(at / 60)
      const end = Math.min(to, hour * 60 + 60, findStart(pieces, piece + 1))
      const shares = (pieces[piece] as Piece).shares[area]
      if (state === null || state.hour !== hour || state.shares !== shares)
        state = drawHour(traffic, area, hour, shares)
      addSpan(counts, p * statuses.length, state, traffic.key, at, end)
      at = end
    }
  }
}

function findStart(pieces: Piece[], index: number): number {
  if (index === 0) return -Infinity
  return pieces[index]?.from ?? Infinity
}

function drawHour(traffic: Traffic, area: Area, hour: number, shares: Float64Array): Hour {
  const all = computeHourlyRequests(traffic, area, hour)
  const key = traffic.key ^ areaSalt[area]
  const requests: number[] = []
  const phases: number[] = []
  for (let s = 0; s < statuses.length; s++) {
    const share = shares[s] ?? 0
    // Errors vary strongly, successes hardly.
    const gust = (statuses[s] ?? 0) >= 400 ? 0.6 : 0.04
    requests.push(share === 0 ? 0 : all * share * (1 + gust * (draw(key + s, hour) - 0.5)))
    phases.push(share === 0 ? 0 : draw(key - s - 1, hour))
  }
  return {
    hour,
    shares,
    requests,
    phases,
    gusts: sumGusts(traffic, hour),
    end: hour * 60,
    before: 0,
  }
}

/** Sums the factors of the gusts of an hour, so that the counts of minutes still add up. */
function sumGusts({ gusts }: Traffic, hour: number): Hour['gusts'] {
  if (gusts === null) return null
  const sumClass = (hundreds: number) => {
    const factors = computeGustFactors(gusts, hundreds, hour)
    if (factors === null) return null
    const sums = new Float64Array(61)
    for (let i = 0; i < 60; i++) sums[i + 1] = (sums[i] ?? 0) + (factors[i] ?? 1)
    return sums
  }
  return [sumClass(4), sumClass(5)]
}

/** Computes what gusts add before a minute of an hour, as a share of its errors without gusts. */
function computeExtraShare(sums: Float64Array, minute: number): number {
  return ((sums[minute] ?? 0) - minute) / 60
}

function addSpan(
  counts: Counts,
  offset: number,
  state: Hour,
  key: number,
  from: number,
  to: number,
): void {
  const { requests, phases, hour, gusts } = state
  const before = state.end === from ? state.before : computeShareBefore(key, hour, from)
  const upTo = computeShareBefore(key, hour, to)
  state.end = to
  state.before = upTo
  for (let s = 0; s < requests.length; s++) {
    const total = requests[s] as number
    if (total === 0) continue
    const phase = phases[s] as number
    const gust = gusts?.[(statuses[s] ?? 0) < 500 ? 0 : 1] ?? null
    const isError = gust !== null && (statuses[s] ?? 0) >= 400
    const extraTo = isError ? computeExtraShare(gust, to - hour * 60) : 0
    const extraFrom = isError ? computeExtraShare(gust, from - hour * 60) : 0
    counts[offset + s] =
      (counts[offset + s] as number) +
      Math.floor(total * (upTo + extraTo) + phase) -
      Math.floor(total * (before + extraFrom) + phase)
  }
}

/**
 * Computes the share of an hour's requests before one of its minutes; 0 at its start, 1 at its end,
 * always growing.
 */
function computeShareBefore(key: number, hour: number, minute: number): number {
  const passed = minute - hour * 60
  if (passed === 0) return 0
  if (passed === 60) return 1
  return (passed + 0.6 * (draw(key, minute) - 0.5)) / 60
}
