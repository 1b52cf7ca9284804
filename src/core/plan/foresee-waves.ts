import { createDetector, emptySum } from '../health/detectable.ts'
import { maxExtension } from '../health/judge.ts'
import { computeLength } from '../health/windows.ts'
import type { HealthConfig } from '../model/config.ts'
import type { Write } from '../model/change.ts'
import { groupBy, addUp, append } from '../model/lists.ts'
import type { Domain } from '../model/item.ts'
import type { ForeseenWave, PlanWave, TrafficBasis } from '../model/plan.ts'
import { formatLength, listAll, pluralize } from '../model/text/words.ts'
import { listOthers, type TrafficProfile } from '../model/traffic.ts'
import { hashJson } from './basis.ts'
import type { Pacing } from './plan-times.ts'
import type { WaveTraffic } from './traffic-waves.ts'

/** Creates what the waves of some domains are chosen and foreseen by. */
export function createWaveTraffic(
  domains: Domain[],
  profile: TrafficProfile,
  rollout: Pacing['rollout'],
): WaveTraffic {
  const health = rollout?.health ?? null
  const figures = new Map(
    domains.flatMap((domain) => {
      const figure = profile.domains.get(domain)
      return figure === undefined ? [] : [[domain, figure] as const]
    }),
  )
  const isForeseen =
    health?.area === 'all' &&
    [...figures.values()].every(({ statuses }) =>
      listOthers(health.statuses).every((each) => statuses?.includes(each)),
    )
  return {
    figures,
    health: isForeseen ? health : null,
    detector: isForeseen ? createDetector(figures.values(), health) : null,
    // A rise by the margin is tolerated.
    rise: 2 * (health?.margin ?? 0) || 1,
  }
}

/** Hashes the figures that waves were chosen by. */
export function bindTraffic({ figures }: WaveTraffic, { at }: TrafficProfile): TrafficBasis {
  const own = [...figures].map(([domain, { at: _at, ...figure }]) => [domain, figure] as const)
  return { at: new Date(at).toISOString(), hash: hashJson(Object.fromEntries(own)) }
}

/** Adds to waves what is known of their traffic; nothing without any figure. */
export function foreseeWaves(
  waves: PlanWave[],
  writes: Write[],
  { figures, detector }: WaveTraffic,
): PlanWave[] {
  if (figures.size === 0) return waves
  const byWave = groupBy(writes, ({ wave }) => wave)
  const foresee = ({ wave }: PlanWave): ForeseenWave => {
    const domains = [...new Set(byWave.get(wave)?.flatMap((write) => write.domains))]
    const known = domains.flatMap((domain) => figures.get(domain) ?? [])
    const requests = addUp(known, (each) => each.requests)
    const unknown = domains.length - known.length
    if (detector === null) return { requests, unknown }
    if (unknown > 0) return { requests, unknown, undetected: 'unknown-traffic' }
    return { requests, unknown, ...detector.foresee(known.reduce(detector.add, emptySum)) }
  }
  return waves.map((each) => ({ ...each, traffic: foresee(each) }))
}

const dayMs = 86_400_000
const hint = '"edgewise stats --refresh" counts it'
const reasons = [
  ['few-requests', 'too few requests'],
  ['many-errors', 'too many errors, or too varied ones'],
] as const

/** Says what `onLittleData` does with the waves whose windows usually have too few requests. */
function warnOfLittleData(waves: PlanWave[], health: HealthConfig): string[] {
  const { minRequests, onLittleData } = health
  const lengthMs = computeLength(health)
  const own = waves.filter(
    ({ traffic }) => traffic?.unknown === 0 && (traffic.requests * lengthMs) / dayMs < minRequests,
  )
  if (own.length === 0) return []
  const count = addUp(own, ({ domains }) => domains)
  const subject = `${pluralize(count, 'domain')} of ${nameWaves(own)}`
  const verb = count === 1 ? 'has' : 'have'
  const effects = {
    wait: `waits for more, up to ${formatLength(maxExtension * lengthMs)}, and then stops`,
    pass: 'goes on after the pause',
    stop: 'stops there',
  }
  return [
    `${subject} ${verb} too few requests for the health check, fewer than ${minRequests} in ` +
      `${formatLength(lengthMs)}: "onLittleData: ${onLittleData}" ${effects[onLittleData]}`,
  ]
}

function nameWaves(waves: PlanWave[]): string {
  const numbers = waves.map(({ wave }) => String(wave))
  return `${waves.length === 1 ? 'wave' : 'waves'} ${listAll(numbers, 'and')}`
}

/**
 * Warns of waves whose health check detects nothing, and of traffic that waves by it lack.
 *
 * @param first share of the first wave, percent; null if waves should not be by traffic
 */
export function warnOfTraffic(
  waves: PlanWave[],
  { figures, health }: Pick<WaveTraffic, 'figures' | 'health'>,
  first: number | null,
): string[] {
  const blind = reasons.flatMap(([undetected, reason]) => {
    const own = waves.filter(({ traffic }) => traffic?.undetected === undetected)
    const text = `the health check of ${nameWaves(own)} detects no rise of errors: ${reason}`
    return own.length === 0 ? [] : [text]
  })
  if (health !== null) append(blind, warnOfLittleData(waves, health))
  if (first === null || waves.length < 2) return blind
  if (figures.size === 0)
    return [`no traffic of these domains is known, so waves are shares of domains; ${hint}`]
  const requests = waves.map(({ traffic }) => traffic?.requests ?? 0)
  const share = (100 * (requests[0] ?? 0)) / addUp(requests)
  const unknown = pluralize(waves.at(-1)?.traffic?.unknown ?? 0, 'domain')
  return [
    ...(waves.at(-1)?.traffic?.unknown === 0
      ? []
      : [`the traffic of ${unknown} is not known: the last wave has them; ${hint}`]),
    ...(share > first
      ? [`wave 1 has ${Number(share.toPrecision(2))} % of the requests instead of ${first} %`]
      : []),
    ...blind,
  ]
}
