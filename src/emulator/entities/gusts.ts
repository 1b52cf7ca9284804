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
  const factors = new Float64Array(60).fill(1)
  const isOwn = addGusts(factors, own + hundreds, periodMinutes.own, factor, hour)
  const isCommon = addGusts(factors, common + hundreds, periodMinutes.common, factor, hour)
  return isOwn || isCommon ? factors : null
}

/** Adds the gusts of a key that reach into an hour, of which the strongest counts. */
function addGusts(
  factors: Float64Array,
  key: number,
  period: number,
  factor: number,
  hour: number,
): boolean {
  let found = false
  const start = hour * 60
  const current = Math.floor(start / period)
  // A gust may begin at the end of the previous period.
  for (const n of [current - 1, current]) {
    if (draw(key, 4 * n) >= chance) continue
    const from = n * period + Math.floor(draw(key, 4 * n + 1) * period) - start
    const to = from + Math.floor(drawBetween(key, 4 * n + 2, minutes.min, minutes.max + 1))
    const times = drawBetween(key, 4 * n + 3, Math.min(minFactor, factor), factor)
    for (let minute = Math.max(0, from); minute < Math.min(60, to); minute++) {
      factors[minute] = Math.max(factors[minute] ?? 1, times)
      found = true
    }
  }
  return found
}
