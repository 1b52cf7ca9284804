/** Draws what happens to a fleet: faults of a change, and disturbances without one. */
import type { Dice } from './dice.ts'
import { periodMs } from './series.ts'

/** Shapes of the faults of a change. */
export const faultShapes = ['step', 'ramp', 'delay', 'flap', 'one domain', '4xx'] as const
export type FaultShape = (typeof faultShapes)[number]

/** What disturbs traffic without a fault of the change. */
export const disturbances = [
  'bots',
  'crowd',
  'one origin',
  'all origins',
  'cron',
  'cold caches',
] as const
export type Disturbance = (typeof disturbances)[number]

/** Share of requests that fail additionally, by the periods since the write of a domain. */
export type Fault = (since: number) => number

const perMinute = 60_000 / periodMs

/**
 * Draws the course of a fault with a mean rise, of the height that it has in the end.
 *
 * @param height share of requests, from 0 to 1
 */
export function drawFault(dice: Dice, shape: FaultShape, height: number): Fault {
  const on = dice.between([5, 15]) * perMinute
  const off = dice.between([5, 15]) * perMinute
  const onset = dice.between([20, 30]) * perMinute
  const length = dice.between([15, 60]) * perMinute
  return (since) => {
    if (since < 0) return 0
    if (shape === 'ramp') return height * Math.min(1, since / length)
    if (shape === 'delay') return since < onset ? 0 : height
    if (shape !== 'flap') return height
    const cycle = on + off
    return since % cycle < on ? Math.min(0.9, (height * cycle) / on) : 0
  }
}

/** Requests that a disturbance adds to a period, and what it does to those that are there. */
export interface Disturbed {
  /** Additional requests that all fail, relative to the mean of the domain. */
  failing: number
  /** Factor of the requests. */
  requests: number
  /** Factor of the share of errors, and its rise. */
  factor: number
  rise: number
}

/** What disturbs a domain in a period; null if nothing does. */
export type Course = (domain: number, period: number, since: number) => Partial<Disturbed> | null

/**
 * Draws a disturbance. It begins at any time from an hour before a rollout to three hours after its
 * begin; a cron job has run for days.
 *
 * @param start period in which the rollout begins
 */
export function drawDisturbance(
  dice: Dice,
  kind: Disturbance,
  size: number,
  start: number,
): Course {
  const from = start + dice.between([-60, 180]) * perMinute
  const pick = (share: number) => Array.from({ length: size }, () => dice.next() < share)
  if (kind === 'bots') {
    const hit = pick(dice.logBetween([0.1, 1]))
    const begins = hit.map(() => from + dice.between([0, 15]) * perMinute)
    const length = dice.between([15, 120]) * perMinute
    const weights = hit.map(() => dice.logBetween([0.02, 0.5]))
    return (i, period) =>
      hit[i] === true && isWithin(period, begins[i] ?? 0, length)
        ? { failing: weights[i] ?? 0 }
        : null
  }
  if (kind === 'crowd') {
    const hit = pick(dice.logBetween([0.02, 1]))
    const [requests, factor] = [dice.logBetween([2, 8]), dice.between([1, 2])]
    const length = dice.between([20, 90]) * perMinute
    return (i, period) =>
      hit[i] === true && isWithin(period, from, length) ? { requests, factor } : null
  }
  if (kind === 'one origin' || kind === 'all origins') {
    // An origin answers for some domains, changed and unchanged ones.
    const hit = pick(kind === 'all origins' ? 0.95 : dice.logBetween([0.02, 0.2]))
    const rise = dice.logBetween([0.005, 0.1])
    const length = dice.between([5, 45]) * perMinute
    return (i, period) => (hit[i] === true && isWithin(period, from, length) ? { rise } : null)
  }
  if (kind === 'cron') {
    const hit = pick(dice.between([0.1, 0.6]))
    const every = dice.next() < 0.5 ? 60 : 24 * 60
    const minute = Math.floor(dice.next() * every)
    const [length, rise] = [dice.between([5, 20]), dice.logBetween([0.01, 0.1])]
    return (i, period) => {
      const at = (period / perMinute - minute + every) % every
      return hit[i] === true && at < length ? { rise } : null
    }
  }
  const [factor, minutes] = [dice.between([1, 4]), dice.between([3, 12])]
  return (_i, _period, since) =>
    since < 0 ? null : { factor: 1 + factor * Math.exp(-since / (minutes * perMinute)) }
}

function isWithin(period: number, from: number, length: number): boolean {
  return period >= from && period < from + length
}
