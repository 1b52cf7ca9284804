import type { Domain } from '../../core/model/item.ts'
import { findMax } from '../../core/model/lists.ts'
import { grainMs } from '../../core/model/statistics.ts'
import type { RecordedItem, RecordedState } from '../../state/store/store.ts'
import type { HealthConfig } from '../../core/model/config.ts'
import { createSampleCount } from '../../core/health/count-sample.ts'
import { computePeriodsPerPoint, createCurve } from '../../core/health/curve.ts'
import {
  computeSpan,
  createEarlierRequests,
  type EarlierRequests,
} from '../../core/health/earlier-windows.ts'
import { judgeWave } from '../../core/health/judge.ts'
import { computeLength } from '../../core/health/windows.ts'
import type { CurvePoint, DomainCounts, WaveHealth, Window } from '../../core/model/health.ts'
import type { RolloutContext } from './ports.ts'

/**
 * Finds the earliest time at which a wave has a baseline, ms since 1970 by the service's clock. The
 * baseline's window, and a settling time before it, must be free of writes to the wave's domains:
 * otherwise the effect of a recent change, such as one that was just rolled back, would count as
 * normal.
 *
 * @param now the service's time
 * @param skewMs this machine's clock less the service's, for times without the service's
 */
export function findBaselineStart(
  domains: Domain[],
  recorded: RecordedState,
  now: number,
  skewMs: number,
  rule: HealthConfig,
): number {
  const writtenMs = domains.flatMap((domain) =>
    [...(recorded.get(domain)?.values() ?? [])].flatMap((item) =>
      item.origin === 'write' ? [Math.min(now, findWriteTime(item, skewMs))] : [],
    ),
  )
  const lastWriteMs = findMax(writtenMs)
  // Windows are whole periods, and end at the beginning of a period.
  const lengthMs = computeLength(rule) + grainMs[rule.grain]
  return Math.max(now, lastWriteMs + rule.settle * 1000 + lengthMs)
}

/**
 * Finds the time of a write by the service's clock. Where that is unknown,
 * the machine's time counts; the later of its two possible times leaves the longer baseline.
 */
function findWriteTime({ at, serviceAt }: RecordedItem, skewMs: number): number {
  if (serviceAt !== undefined) return Date.parse(serviceAt)
  return Math.max(Date.parse(at), Date.parse(at) - skewMs)
}

/** Maximum number of controls: enough to see what disturbs one of ten. */
const maxControls = 100

/**
 * Chooses controls for a wave: recorded domains outside of it that were not written since a time,
 * spread over their names.
 *
 * @param since the service's time, ms since 1970
 */
function chooseControls(
  domains: Domain[],
  recorded: RecordedState,
  since: number,
  skewMs: number,
): Domain[] {
  const own = new Set(domains)
  const wasWritten = (item: RecordedItem) =>
    item.origin === 'write' && findWriteTime(item, skewMs) >= since
  const still = [...recorded]
    .filter(([domain, items]) => !own.has(domain) && ![...items.values()].some(wasWritten))
    .map(([domain]) => domain)
    .toSorted()
  const step = Math.max(1, still.length / maxControls)
  return still.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}

interface EndedRollouts {
  store: Pick<RolloutContext['store'], 'listEnded'>
}

/** Tests of times whether a domain had no values then that were rolled back. */
async function findUsual(
  rule: HealthConfig,
  skewMs: number,
  { store }: EndedRollouts,
): Promise<(domain: Domain, time: number) => boolean> {
  const found = new Map<Domain, Window[]>()
  for (const { state, endedAt, waves } of await store.listEnded())
    for (const { domains, applied } of state === 'rolled-back' && endedAt !== null ? waves : []) {
      if (applied === null) continue
      const from = Date.parse(applied.serviceFrom ?? applied.from)
      const to = Date.parse(endedAt ?? '') - skewMs + rule.settle * 1000 + computeLength(rule)
      for (const domain of domains) found.set(domain, [...(found.get(domain) ?? []), { from, to }])
    }
  return (domain, time) =>
    !(found.get(domain) ?? []).some(({ from, to }) => from <= time && time < to)
}

/** Queries the requests of domains over some days, without what is not usual. */
async function queryEarlier(
  domains: Domain[],
  span: Window,
  skewMs: number,
  rule: HealthConfig,
  context: Pick<RolloutContext, 'service'> & EndedRollouts,
): Promise<EarlierRequests> {
  const requests = createEarlierRequests(createSampleCount(rule.statuses))
  const isUsual = await findUsual(rule, skewMs, context)
  await context.service.list(domains, span, (domain, points) =>
    requests.add(
      domain,
      points.filter(({ time }) => isUsual(domain, time)),
    ),
  )
  return requests
}

/** Requests of a wave in a window: by domain, and of all domains over time. */
interface CountedWindow {
  window: Window
  counts: DomainCounts
  curve: CurvePoint[]
}

/** Health of a wave, and the windows that it rests on. */
export interface ComparedWave extends WaveHealth {
  before: CountedWindow
  after: CountedWindow
}

/**
 * Compares the requests of a window with the baseline of a wave. In a longer window, a rise of some
 * domains is a gust, and does not count, if its first or its last part is without it. A later look
 * may spend only a share of the error rate. Throws the errors of queries.
 */
export type CompareWave = (window: Window, share?: number) => Promise<ComparedWave>

/**
 * Creates the comparison of a wave with its baseline, which is queried once. The statistics of some
 * days before the wave, and those of the controls, are queried only for a rise, the former once.
 *
 * @param baseline window of the baseline
 * @param now the time by the same clock
 */
export function createComparison(
  domains: Domain[],
  recorded: RecordedState,
  baseline: Window,
  { now }: { now(): number },
  rule: HealthConfig,
  context: Pick<RolloutContext, 'clock' | 'service' | 'settings'> & EndedRollouts,
): CompareWave {
  const { service, settings } = context
  const skewMs = context.clock.now() - now()
  const controls = chooseControls(domains, recorded, baseline.from, skewMs)
  const span = computeSpan(baseline.to, rule)
  const lengthMs = computeLength(rule)
  let before: CountedWindow | null = null
  let earlier: EarlierRequests | null = null
  const count = async (window: Window): Promise<CountedWindow> => {
    // A query that is repeated begins a new curve.
    const curve = createCurve(
      window,
      computePeriodsPerPoint(baseline, rule.grain),
      rule,
      settings.zone,
    )
    const counts = await service.count(domains, window, (points) => curve.add(points))
    return { window, counts, curve: curve.list() }
  }
  const compare: CompareWave = async (window, share) => {
    before ??= await count(baseline)
    const after = await count(window)
    const health = judgeWave(before.counts, after.counts, rule)
    if (health.verdict !== 'worse') return { ...health, before, after }
    earlier ??= await queryEarlier([...domains, ...controls], span, skewMs, rule, context)
    const variation = {
      windows: earlier.sum(span, window.to - window.from),
      controls: await service.count(controls, window),
    }
    const judged = {
      ...judgeWave(before.counts, after.counts, rule, variation, share),
      before,
      after,
    }
    const { from, to } = window
    if (judged.verdict !== 'worse' || judged.whole.verdict === 'worse' || to - from <= lengthMs)
      return judged
    const first = await compare({ from, to: from + lengthMs })
    const last = await compare({ from: to - lengthMs, to })
    const lasts = [...judged.domains].some(
      ([domain, { verdict }]) =>
        verdict === 'worse' &&
        [first, last].every(({ domains: own }) => own.get(domain)?.verdict !== 'same-or-better'),
    )
    return lasts ? judged : { ...judged, verdict: 'same-or-better' }
  }
  return compare
}
