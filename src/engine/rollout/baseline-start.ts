import type { Domain, ItemKey } from '../../core/model/item.ts'
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
import type { CurvePoint, DomainCounts, WaveHealth, Window } from '../../core/model/health.ts'
import type { TimeZone } from '../../core/model/time/time-zone.ts'
import type { StatusCounts } from './ports.ts'

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
  const lastWriteMs = writtenMs.reduce((latest, each) => Math.max(latest, each), -Infinity)
  // Windows are whole periods, and end at the beginning of a period.
  const periods = Math.max(1, Math.ceil((rule.window * 1000) / grainMs[rule.grain])) + 1
  return Math.max(now, lastWriteMs + rule.settle * 1000 + periods * grainMs[rule.grain])
}

/**
 * Finds the time of a write by the service's clock. Where that is unknown,
 * the machine's time counts; the later of its two possible times leaves the longer baseline.
 */
function findWriteTime({ at, serviceAt }: RecordedItem, skewMs: number): number {
  if (serviceAt !== undefined) return Date.parse(serviceAt)
  return Math.max(Date.parse(at), Date.parse(at) - skewMs)
}

/** Maximum number of controls: enough for their median. */
const maxControls = 30

/**
 * Chooses controls for a wave: recorded domains outside of it that were not written since a time,
 * spread over their names.
 *
 * @param since the service's time, ms since 1970
 */
export function chooseControls(
  domains: Domain[],
  recorded: RecordedState,
  since: number,
  skewMs: number,
): Domain[] {
  const own = new Set(domains)
  const still = [...recorded]
    .filter(([domain, items]) => !own.has(domain) && !wasWritten(items, since, skewMs))
    .map(([domain]) => domain)
    .toSorted()
  const step = Math.max(1, still.length / maxControls)
  return still.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}

function wasWritten(
  items: ReadonlyMap<ItemKey, RecordedItem>,
  since: number,
  skewMs: number,
): boolean {
  return [...items.values()].some(
    (item) => item.origin === 'write' && findWriteTime(item, skewMs) >= since,
  )
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

/** Queries the statistics of a wave. */
interface WaveQueries {
  /** Counts the requests of a window; throws the errors of queries. */
  count(window: Window): Promise<CountedWindow>
  /** Compares the requests of a window with the baseline; throws the errors of queries. */
  compare(before: CountedWindow, window: Window): Promise<ComparedWave>
}

/**
 * Creates the queries of a wave, which compare it with its baseline. The statistics of some days
 * before the wave, and those of the controls, are queried only for a rise, and the former once.
 *
 * @param controls domains that did not change
 * @param baseline window of the baseline
 */
export function createComparison(
  domains: Domain[],
  controls: Domain[],
  baseline: Window,
  { rule, zone }: { rule: HealthConfig; zone: TimeZone },
  service: StatusCounts,
): WaveQueries {
  const span = computeSpan(baseline.to, rule)
  const periodsPerPoint = computePeriodsPerPoint(baseline, rule.grain)
  let earlier: EarlierRequests | null = null
  const queryEarlier = async () => {
    const requests = createEarlierRequests(createSampleCount(rule.statuses))
    await service.list([...domains, ...controls], span, (domain, points) =>
      requests.add(domain, points),
    )
    return requests
  }
  const count = async (window: Window): Promise<CountedWindow> => {
    // A query that is repeated begins a new curve.
    const curve = createCurve(window, periodsPerPoint, rule, zone)
    const counts = await service.count(domains, window, (points) => curve.add(points))
    return { window, counts, curve: curve.list() }
  }
  return {
    count,
    compare: async (before, window) => {
      const after = await count(window)
      const health = judgeWave(before.counts, after.counts, rule)
      if (health.verdict !== 'worse') return { ...health, before, after }
      earlier ??= await queryEarlier()
      const variation = {
        windows: earlier.sum(span, window.to - window.from),
        controls: await service.count(controls, window),
      }
      return { ...judgeWave(before.counts, after.counts, rule, variation), before, after }
    },
  }
}
