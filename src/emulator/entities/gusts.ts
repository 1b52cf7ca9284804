import { draw, drawBetween, hashKey } from './chance.ts'

/** Gusts of a domain: times in which more of its requests end in 4xx, or in 5xx. */
export interface Gusts {
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
export function createGusts(seed: string, key: number, factor: number): Gusts {
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
