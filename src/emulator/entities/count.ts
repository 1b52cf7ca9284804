import { draw } from './chance.ts'
import type { Period } from './periods.ts'
import { areaSalt, computeHourlyRequests, statuses, type Area, type Traffic } from './traffic.ts'

/** From a minute on, the share of a domain's requests that ends in each status, by area. */
export interface Piece {
  /** In minutes since 1970. */
  from: number
  shares: Record<Area, Float64Array>
}

/** Counts of statuses: those of period `p` begin at `p * statuses.length`. */
export type Counts = Float64Array

/**
 * What is drawn once an hour. `end` is the last minute that was asked for, with the share of the
 * hour before it.
 */
interface Hour {
  hour: number
  shares: Float64Array
  requests: Float64Array
  phases: Float64Array
  end: number
  before: number
}

/**
 * Adds the requests of one domain from one area in each period (ascending) to `counts`. An hour is
 * drawn as a whole and split into its minutes by a running total, so that minutes add up exactly to
 * whatever they are taken together to, and long periods never visit them. `pieces` ascend, and the
 * first begins before everything.
 */
export function addCounts(
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
      while (at >= startOf(pieces, piece + 1)) piece++
      while (at < startOf(pieces, piece)) piece--
      const hour = Math.floor(at / 60)
      const end = Math.min(to, hour * 60 + 60, startOf(pieces, piece + 1))
      const shares = (pieces[piece] as Piece).shares[area]
      if (state === null || state.hour !== hour || state.shares !== shares)
        state = drawHour(traffic, area, hour, shares)
      addSpan(counts, p * statuses.length, state, traffic.key, at, end)
      at = end
    }
  }
}

function startOf(pieces: Piece[], index: number): number {
  if (index === 0) return -Infinity
  return pieces[index]?.from ?? Infinity
}

function drawHour(traffic: Traffic, area: Area, hour: number, shares: Float64Array): Hour {
  const all = computeHourlyRequests(traffic, area, hour)
  const key = traffic.key ^ areaSalt[area]
  const requests = new Float64Array(statuses.length)
  const phases = new Float64Array(statuses.length)
  for (let s = 0; s < statuses.length; s++) {
    const share = shares[s] ?? 0
    if (share === 0) continue
    // Errors come in gusts; what is served well hardly varies.
    const gust = (statuses[s] ?? 0) >= 400 ? 0.6 : 0.04
    requests[s] = all * share * (1 + gust * (draw(key + s, hour) - 0.5))
    phases[s] = draw(key - s - 1, hour)
  }
  return { hour, shares, requests, phases, end: hour * 60, before: 0 }
}

function addSpan(
  counts: Counts,
  offset: number,
  state: Hour,
  key: number,
  from: number,
  to: number,
): void {
  const { requests, phases, hour } = state
  const before = state.end === from ? state.before : shareBefore(key, hour, from)
  const upTo = shareBefore(key, hour, to)
  state.end = to
  state.before = upTo
  for (let s = 0; s < requests.length; s++) {
    const total = requests[s] as number
    if (total === 0) continue
    const phase = phases[s] as number
    counts[offset + s] =
      (counts[offset + s] as number) +
      Math.floor(total * upTo + phase) -
      Math.floor(total * before + phase)
  }
}

/**
 * The share of an hour's requests that come before one of its minutes; 0 at its beginning, 1 at its
 * end, always growing.
 */
function shareBefore(key: number, hour: number, minute: number): number {
  const passed = minute - hour * 60
  if (passed === 0) return 0
  if (passed === 60) return 1
  return (passed + 0.6 * (draw(key, minute) - 0.5)) / 60
}
