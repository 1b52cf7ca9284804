import type { Domain } from '../../core/model/item.ts'
import { draw, drawBetween, hashKey } from './chance.ts'

/** Areas of requests, which together are all. */
export type Area = 'cn' | 'abroad'
export const areas: readonly Area[] = ['cn', 'abroad']

/**
 * Status codes of the traffic, ascending; 0 means that the client left before a status was sent.
 */
export const statuses = [
  0, 200, 206, 301, 302, 304, 400, 403, 404, 416, 499, 500, 502, 503, 504,
] as const
export type Status = (typeof statuses)[number]

/** Requests of one domain without any configuration; the same for the same seed and domain. */
export interface Traffic {
  key: number
  /** Mean requests in an hour of the week, by area. */
  perHour: Record<Area, number>
  /** Factor of each hour of a UTC day, by area. */
  day: Record<Area, number[]>
  /** Factor of Saturdays and Sundays. */
  weekend: number
  /** Share of requests by http rather than https. */
  http: number
  /** Share of requests that the cache can't answer. */
  miss: number
  /** Share of each status, in the order of `statuses`. */
  shares: number[]
  /** Null if errors do not come in gusts. */
  gusts: Gusts | null
}

const perMinute = { min: 300, max: 6000 }
/** UTC hour of the peak traffic of an area. */
const peakHours: Record<Area, number> = { cn: 12, abroad: 20 }
const defaultShares: Partial<Record<Status, number>> = {
  0: 0.0008,
  206: 0.04,
  302: 0.006,
  304: 0.07,
  400: 0.0004,
  403: 0.002,
  404: 0.02,
  416: 0.0003,
  499: 0.004,
  500: 0.0004,
  502: 0.0003,
  503: 0.0002,
  504: 0.0003,
}

/**
 * Draws the traffic of a domain under a seed.
 *
 * @param gustFactor largest factor of gusts of errors; null for none
 */
export function drawTraffic(seed: string, domain: Domain, gustFactor: number | null): Traffic {
  const key = hashKey(seed, domain)
  const perHour = 60 * perMinute.min * (perMinute.max / perMinute.min) ** draw(key, 1)
  const cn = drawBetween(key, 2, 0.55, 0.9)
  const shift = drawBetween(key, 3, -2, 2)
  const others = statuses.map(
    (status, i) => (defaultShares[status] ?? 0) * drawBetween(key, 16 + i, 0.5, 1.5),
  )
  const rest = 1 - others.reduce((sum, share) => sum + share, 0)
  return {
    key,
    perHour: { cn: perHour * cn, abroad: perHour * (1 - cn) },
    day: {
      cn: computeDayCurve(peakHours.cn + shift),
      abroad: computeDayCurve(peakHours.abroad + shift),
    },
    weekend: drawBetween(key, 4, 0.7, 1.3),
    http: drawBetween(key, 5, 0.1, 0.35),
    miss: drawBetween(key, 6, 0.1, 0.35),
    shares: statuses.map((status, i) => (status === 200 ? rest : (others[i] ?? 0))),
    gusts: gustFactor === null ? null : createGusts(seed, key, gustFactor),
  }
}

function computeDayCurve(peak: number): number[] {
  return Array.from(
    { length: 24 },
    (_, hour) => 0.4 + 1.2 * (0.5 + 0.5 * Math.cos(((hour + 0.5 - peak) / 12) * Math.PI)) ** 1.5,
  )
}

/**
 * Computes the requests of a domain from an area in the `hour`-th hour since 1970, before rounding.
 */
export function computeHourlyRequests(
  { key, perHour, day, weekend }: Traffic,
  area: Area,
  hour: number,
): number {
  const dayOfWeek = modulo(Math.floor(hour / 24) + 4, 7)
  const week = dayOfWeek === 0 || dayOfWeek === 6 ? weekend : 1
  const noise = 0.94 + 0.12 * draw(key ^ areaSalt[area], hour)
  return perHour[area] * (day[area][modulo(hour, 24)] ?? 1) * week * noise
}

/** Separates the draws of the areas. */
export const areaSalt: Record<Area, number> = { cn: 0x5bd1e995, abroad: 0x2545f491 }

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

/** Gusts of a domain: times in which more of its requests end in 4xx, or in 5xx. */
interface Gusts {
  /** Keys of its own gusts, and of those that all domains have at the same time. */
  own: number
  common: number
  /** Largest factor by which a gust multiplies the errors. */
  factor: number
}

/** Period in which each key has at most one gust, minutes, and the share of periods with one. */
const periodMinutes = { own: 180, common: 720 }
const chance = 0.8
const minutes = { min: 5, max: 40 }
const minFactor = 1.5

/** Creates the gusts of a domain; the same for the same seed and key. */
function createGusts(seed: string, key: number, factor: number): Gusts {
  return { own: key ^ hashKey('gusts'), common: hashKey(seed, 'gusts'), factor }
}

/**
 * Computes the factor of each minute of an hour for the errors of a class; null without a gust.
 *
 * @param hundreds class of the errors: 4 or 5
 */
export function computeGustFactors(
  { own, common, factor }: Gusts,
  hundreds: number,
  hour: number,
): Float64Array | null {
  const gusts = [
    ...findGusts(own + hundreds, periodMinutes.own, factor, hour),
    ...findGusts(common + hundreds, periodMinutes.common, factor, hour),
  ]
  if (gusts.length === 0) return null
  const factors = new Float64Array(60).fill(1)
  // The strongest counts.
  for (const { from, to, times } of gusts)
    for (let minute = from; minute < to; minute++)
      factors[minute] = Math.max(factors[minute] ?? 1, times)
  return factors
}

/** A gust in an hour: its minutes [from, to), and its factor. */
interface Gust {
  from: number
  to: number
  times: number
}

/** Finds the gusts of a key that reach into an hour. */
function findGusts(key: number, period: number, factor: number, hour: number): Gust[] {
  const found: Gust[] = []
  const start = hour * 60
  const current = Math.floor(start / period)
  // A gust may begin at the end of the previous period.
  for (const n of [current - 1, current]) {
    if (draw(key, 4 * n) >= chance) continue
    const first = n * period + Math.floor(draw(key, 4 * n + 1) * period) - start
    const from = Math.max(0, first)
    const to = Math.min(
      60,
      first + Math.floor(drawBetween(key, 4 * n + 2, minutes.min, minutes.max + 1)),
    )
    if (from < to)
      found.push({
        from,
        to,
        times: drawBetween(key, 4 * n + 3, Math.min(minFactor, factor), factor),
      })
  }
  return found
}
