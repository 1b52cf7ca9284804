/**
 * Draws the requests of fleets over two weeks: heavy tails of sizes, day curves, other weekends,
 * and errors in gusts of single domains or of all. It shares no code with the health check.
 */
import { Dice } from './dice.ts'

/** Length of a period, ms, and the number of periods of an hour, a day and all. */
export const periodMs = 300_000
const hourPeriods = 12
const dayPeriods = 24 * hourPeriods
const periods = 14 * dayPeriods

type Range = readonly [min: number, max: number]

/** Ranges from which the properties of a fleet are drawn. */
export interface Family {
  name: string
  /** Exponent of the tail of sizes: the smaller, the heavier. */
  tail: Range
  /** Share of errors of a typical domain without a gust. */
  base: Range
  /** Requests of the quietest hour, and those of a day of a weekend, relative to the others. */
  night: Range
  weekend: Range
  /** Gusts a day of one domain, and of all at once. */
  own: Range
  common: Range
  /** Factors of gusts, and their minutes. */
  factor: Range
  minutes: Range
}

const usual: Omit<Family, 'name'> = {
  tail: [0.8, 1.5],
  base: [1e-4, 1e-2],
  night: [0.15, 0.5],
  weekend: [0.5, 1.2],
  own: [0, 2],
  common: [0, 0.5],
  factor: [1.5, 5],
  minutes: [5, 60],
}
export const families: Family[] = [
  { ...usual, name: 'usual' },
  { ...usual, name: 'calm', own: [0, 0.5], common: [0, 0.2], factor: [1.5, 3] },
  { ...usual, name: 'few large', tail: [0.5, 0.8], night: [0.1, 0.3] },
  { ...usual, name: 'many errors', base: [5e-3, 2e-2] },
  { ...usual, name: 'long gusts', own: [0, 1], minutes: [60, 240] },
  { ...usual, name: 'strong gusts', own: [1, 6], common: [0, 1.5], factor: [3, 12] },
  { ...usual, name: 'rare gusts', base: [1e-4, 5e-3], own: [0.1, 1], factor: [5, 40] },
]

/** Requests of a period, and those that failed. */
export interface Count {
  requests: number
  bad: number
}

/** A domain with its requests by period, from 0. */
export interface SeriesDomain {
  name: string
  count(period: number): Count
}

/** Mean requests of all domains of a fleet in a day. */
const daily: Range = [3e7, 5e9]
const maxShare = 0.05

/** Draws the domains of a fleet. Day 0 is a Monday. */
export function drawFleet(seed: number, family: Family, size: number): SeriesDomain[] {
  const dice = new Dice(seed)
  const tail = dice.between(family.tail)
  const base = dice.logBetween(family.base)
  const night = dice.between(family.night)
  const weekend = dice.between(family.weekend)
  const peak = dice.between([0, 24])
  const all = dice.logBetween(daily)
  const own = dice.between(family.own)
  const common = drawGusts(dice, dice.between(family.common), family)
  const sizes = Array.from({ length: size }, () => (1 - dice.next()) ** (-1 / tail))
  const sum = sizes.reduce((total, each) => total + each, 0)
  return sizes.map((each, i) => {
    const mean = ((each / sum) * all) / dayPeriods
    const share = Math.min(maxShare, base * Math.exp(0.8 * dice.normal()))
    const gusts = drawGusts(dice, own, family).map((gust, p) => Math.max(gust, common[p] ?? 1))
    const curve = drawCurve(dice, peak, night)
    const key = Math.floor(2 ** 31 * dice.next())
    const counts = new Map<number, Count>()
    const draw = (period: number): Count => {
      const noise = new Dice(key, period)
      const isWeekend = Math.floor(period / dayPeriods) % 7 >= 5
      const factor = (curve[period % dayPeriods] ?? 1) * (isWeekend ? weekend : 1)
      const requests = noise.poisson(mean * factor * Math.exp(0.05 * noise.normal()))
      const p = Math.min(0.6, share * (gusts[period] ?? 1))
      return { requests, bad: noise.binomial(requests, p) }
    }
    return {
      name: `d${String(i).padStart(4, '0')}.example.com`,
      count: (period) => {
        const known = counts.get(period)
        if (known !== undefined) return known
        const drawn = draw(period)
        counts.set(period, drawn)
        return drawn
      },
    }
  })
}

/** Draws the factor of each period of a day, relative to its mean. */
function drawCurve(dice: Dice, peak: number, night: number): number[] {
  const [at, sharpness] = [peak + dice.between([-3, 3]), dice.between([0.7, 2])]
  const heights = Array.from({ length: dayPeriods }, (_, p) => {
    const wave = 0.5 + 0.5 * Math.cos(((p / hourPeriods - at) / 12) * Math.PI)
    return wave ** sharpness
  })
  const mean = heights.reduce((sum, height) => sum + height, 0) / dayPeriods
  return heights.map((height) => night + ((1 - night) * height) / mean)
}

/** Draws the factor of the errors of each period; the strongest of several gusts counts. */
function drawGusts(dice: Dice, perDay: number, { factor, minutes }: Family): Float64Array {
  const factors = new Float64Array(periods).fill(1)
  const count = dice.poisson((perDay * periods) / dayPeriods)
  for (let i = 0; i < count; i++) {
    const from = dice.next() * periods
    const to = from + (dice.logBetween(minutes) * 60_000) / periodMs
    const times = dice.logBetween(factor)
    for (let p = Math.floor(from); p < Math.min(periods, to); p++) {
      const covered = Math.min(p + 1, to) - Math.max(p, from)
      factors[p] = Math.max(factors[p] ?? 1, 1 + (times - 1) * covered)
    }
  }
  return factors
}
