import type { Domain } from '../../model/item.ts'
import { draw, drawBetween, hashKey } from './chance.ts'

/** Where requests come from; the two together are all. */
export type Area = 'cn' | 'abroad'
export const areas: readonly Area[] = ['cn', 'abroad']

/**
 * The status codes that traffic can end in, ascending; 0 is a client that left before there was
 * any.
 */
export const statuses = [
  0, 200, 206, 301, 302, 304, 400, 403, 404, 416, 499, 500, 502, 503, 504,
] as const
export type Status = (typeof statuses)[number]

/**
 * Requests of one domain as they would end if nothing were configured; the same for the same seed
 * and domain.
 */
export interface Traffic {
  key: number
  /** Requests in an hour of the week at its mean, by area. */
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
}

const perMinute = { least: 300, most: 6000 }
/** UTC hour at which an area is busiest. */
const busiest: Record<Area, number> = { cn: 12, abroad: 20 }
const usualShares: Partial<Record<Status, number>> = {
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

/** The traffic of a domain under a seed. */
export function drawTraffic(seed: string, domain: Domain): Traffic {
  const key = hashKey(seed, domain)
  const perHour = 60 * perMinute.least * (perMinute.most / perMinute.least) ** draw(key, 1)
  const cn = drawBetween(key, 2, 0.55, 0.9)
  const shift = drawBetween(key, 3, -2, 2)
  const others = statuses.map(
    (status, i) => (usualShares[status] ?? 0) * drawBetween(key, 16 + i, 0.5, 1.5),
  )
  const rest = 1 - others.reduce((sum, share) => sum + share, 0)
  return {
    key,
    perHour: { cn: perHour * cn, abroad: perHour * (1 - cn) },
    day: { cn: dayCurve(busiest.cn + shift), abroad: dayCurve(busiest.abroad + shift) },
    weekend: drawBetween(key, 4, 0.7, 1.3),
    http: drawBetween(key, 5, 0.1, 0.35),
    miss: drawBetween(key, 6, 0.1, 0.35),
    shares: statuses.map((status, i) => (status === 200 ? rest : (others[i] ?? 0))),
  }
}

function dayCurve(peak: number): number[] {
  return Array.from(
    { length: 24 },
    (_, hour) => 0.4 + 1.2 * (0.5 + 0.5 * Math.cos(((hour + 0.5 - peak) / 12) * Math.PI)) ** 1.5,
  )
}

/**
 * Requests of a domain from an area in the `hour`-th hour since 1970, before they are whole
 * numbers.
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

/** Keeps the draws of the areas apart. */
export const areaSalt: Record<Area, number> = { cn: 0x5bd1e995, abroad: 0x2545f491 }

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
