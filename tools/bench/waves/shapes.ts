/** Simulates rollouts with faults of several shapes, disturbed or not. */
import { createDetector, emptySum } from '../../../src/core/health/detectable.ts'
import type { HealthConfig } from '../../../src/core/model/config.ts'
import type { DomainTraffic } from '../../../src/core/model/traffic.ts'
import { Dice } from './dice.ts'
import {
  type Disturbance,
  disturbances,
  drawDisturbance,
  drawFault,
  type FaultShape,
  faultShapes,
} from './disturb.ts'
import { drawFleet, families, type Family, periodMs, type SeriesDomain } from './series.ts'
import { countTraffic, epoch, type Failing, health, planWaves, record, roll } from './simulate.ts'

const dayMs = 86_400_000

/** A simulated rollout with what happened to it, and its end. */
export interface Shaped {
  /** Null without a fault. */
  shape: FaultShape | null
  disturbance: Disturbance | null
  isStopped: boolean
  /** Whether the fault had been in the statistics before the end. */
  hasCause: boolean
  /** Share of the requests of the changed domains that had the fault in the end. */
  exposed: number
}

/**
 * Simulates a rollout: half of them have a fault that the check should detect on the domains of a
 * first wave (or on the one domain), once to four times the least rise, and half are disturbed.
 */
export async function simulateShape(seed: number): Promise<Shaped> {
  const dice = new Dice(seed, 7)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(dice.next() * list.length)] as T
  const wanted = dice.next() < 0.5 ? pick(faultShapes) : null
  const kind = dice.next() < 0.5 ? pick(disturbances) : null
  const is4xx = wanted === '4xx' || kind === 'bots' || (wanted === null && dice.next() < 0.2)
  const usual = pick(families)
  const family: Family = is4xx ? { ...usual, base: [2e-3, 3e-2] } : usual
  const status = is4xx ? 404 : 502
  const rule: HealthConfig = { ...health, statuses: [is4xx ? '404' : '5xx'] }
  const fleet = drawFleet(seed, family, Math.round(dice.logBetween([20, 150])))
  const share = dice.between([0.5, 1])
  const isChanged = fleet.map((_, i) => i === 0 || dice.next() < share)
  const start = epoch + 7 * dayMs + Math.floor(dice.next() * 6 * dayMs)
  const startPeriod = Math.floor((start - epoch) / periodMs)
  const course = kind === null ? null : drawDisturbance(dice, kind, fleet.length, startPeriod)
  const disturb: Failing = (i, period, since, usualCount) => {
    const changes = course?.(i, period, since) ?? null
    if (changes === null) return usualCount
    const { failing = 0, requests = 1, factor = 1, rise = 0 } = changes
    const own = new Dice(seed + i, period)
    const all = Math.round(usualCount.requests * requests)
    const bad = Math.min(all, Math.round(usualCount.bad * requests * factor))
    const more = own.poisson(usualCount.requests * failing)
    return { requests: all + more, bad: bad + own.binomial(all - bad, rise) + more }
  }
  // What has disturbed the days before is in the figures too.
  const before = fleet.map(({ name, count }, i): SeriesDomain => ({
    name,
    count: (period) => disturb(i, period, -1, count(period)),
  }))
  const traffic = countTraffic(before, start, is4xx ? ['404'] : [], status)
  const recorded = record(fleet, '10')
  const changed = fleet.filter((_, i) => isChanged[i] === true)
  const plan = planWaves(recorded, record(changed, '20'), traffic, rule)
  const figures = changed.map(({ name }) => traffic.domains.get(name) as DomainTraffic)
  const detector = createDetector(figures, rule)
  const foresee = (own: DomainTraffic[]) =>
    detector.foresee(own.reduce(detector.add, emptySum)).detects?.rise
  const [first] = plan.waves ?? []
  const firstDomains = new Set(
    plan.writes.flatMap(({ wave, domains }) => (wave === first?.wave ? domains : [])),
  )
  const visible = figures.flatMap((own, i) => {
    const least = foresee([own])
    return least === undefined || least > 30 ? [] : [{ name: changed[i]?.name, least }]
  })
  const one = wanted === 'one domain' && visible.length > 0 ? pick(visible) : null
  const least =
    one?.least ??
    foresee(figures.filter((_, i) => firstDomains.has(changed[i]?.name ?? ''))) ??
    foresee(figures)
  const shape = wanted === 'one domain' && one === null ? 'step' : wanted
  const height = Math.min(0.9, ((least ?? 5) * dice.logBetween([1, 4])) / 100)
  const fault = shape === null || least === undefined ? null : drawFault(dice, shape, height)
  const isFaulty = fleet.map(
    ({ name }, i) => isChanged[i] === true && (one === null || one.name === name),
  )
  let hasCause = false
  const fail: Failing = (i, period, since, usualCount) => {
    const count = disturb(i, period, since, usualCount)
    const p = since < 1 || isFaulty[i] !== true ? 0 : (fault?.(since - 1) ?? 0)
    if (p <= 0) return count
    hasCause = true
    const bad = new Dice(seed + i, period + 5e5).binomial(count.requests - count.bad, p)
    return { requests: count.requests, bad: count.bad + bad }
  }
  const { worse, sent } = await roll(plan, recorded, start, { fleet, fail, rule, status })
  const sentDomains = new Set(
    plan.writes.flatMap(({ wave, domains }) => (wave <= sent ? domains : [])),
  )
  let [exposed, all] = [0, 0]
  for (const [i, { name }] of fleet.entries()) {
    if (isChanged[i] !== true) continue
    const requests = traffic.domains.get(name)?.requests ?? 0
    all += requests
    if (sentDomains.has(name) && isFaulty[i] === true) exposed += requests
  }
  return {
    shape: fault === null ? null : shape,
    disturbance: kind,
    isStopped: worse !== null,
    hasCause,
    exposed: exposed / all,
  }
}
