import type { DomainCounts, HealthWindows, WaveHealth, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import { alignDown, grainMs } from '../model/statistics.ts'
import { judgeWave } from '../health/judge.ts'
import { computeWindows } from '../health/windows.ts'
import type { RolloutContext, RolloutSettings } from './ports.ts'
import type { HealthConfig } from '../model/config.ts'
import { isClearlyWorse, explainTooLittleData, explainWorse } from './explain-verdict.ts'
import { isTransient, retryQuery, waitUntil } from './wait.ts'

/** What watching a wave takes. */
type Watching = Pick<RolloutContext, 'clock' | 'service' | 'settings' | 'signal' | 'report'>

/** What came of watching a wave; null when it was interrupted. */
export type Watched = { passed: true } | { passed: false; worse: boolean; reason: string } | null

/** Windows of which too little is known are made longer until they are so many times as long. */
const longest = 12

/** Whether the next step has to wait after a wave, counted from 0. */
export function needsWatching(
  { waves }: Rollout,
  at: number,
  { pauseMs, rule }: RolloutSettings,
): boolean {
  return rule !== null || (at + 1 < waves.length && pauseMs > 0)
}

/**
 * Waits until a wave may be followed by the next one: for the pause, and for the statistics of its
 * domains, which are compared with the time before. What is beyond doubt is not waited for.
 *
 * @returns null when it was interrupted
 * @throws EdgewiseError what reading statistics throws
 */
export async function watchWave(
  rollout: Rollout,
  at: number,
  watching: Watching,
): Promise<Watched> {
  const { clock, signal } = watching
  const { rule, pauseMs } = watching.settings
  const wave = rollout.waves[at]
  const [from, to] = [Date.parse(wave?.applied?.from ?? ''), Date.parse(wave?.applied?.to ?? '')]
  const pausedUntil = at + 1 < rollout.waves.length ? to + pauseMs : to
  if (rule !== null) {
    const watched = await judged(rollout, at, { from, to }, pausedUntil, rule, watching)
    if (watched === null || !watched.passed) return watched
  }
  if (clock.now() < pausedUntil) {
    reportWaiting(rollout, at, pausedUntil, 'pause', watching)
    await waitUntil(pausedUntil, watching)
  }
  return signal.aborted ? null : { passed: true }
}

/** Waits until there is an undisturbed time to compare a wave with, and says so. */
export async function waitForBaseline(
  rollout: Rollout,
  at: number,
  time: number,
  watching: Watching,
): Promise<void> {
  reportWaiting(rollout, at, time, 'baseline', watching)
  await waitUntil(time, watching)
}

/**
 * The verdict on a wave. Windows grow while there is too little data, if that is to be waited for.
 */
async function judged(
  rollout: Rollout,
  at: number,
  applied: Window,
  pausedUntil: number,
  rule: HealthConfig,
  watching: Watching,
): Promise<Watched> {
  const domains = rollout.waves[at]?.domains ?? []
  const counts = (window: Window) =>
    retryQuery(
      () => watching.service.count(domains, window),
      (next) => reportWaiting(rollout, at, next, 'health', watching),
      watching,
    )
  for (let times = 1; ; times++) {
    const windows = computeWindows(
      applied.from,
      applied.to,
      { ...rule, window: rule.window * times },
      watching.settings.zone,
    )
    reportWaiting(rollout, at, Math.max(windows.readyAt, pausedUntil), 'health', watching)
    const before = await counts(windows.before)
    const early = await lookOn(domains, at, windows, before, rule, watching)
    if (watching.signal.aborted) return null
    const health = early ?? judgeWave(before, await counts(windows.after), rule)
    const reason =
      health.verdict === 'worse' ? explainWorse(health, rule) : explainTooLittleData(health, rule)
    reportJudged(at, health, reason, watching)
    if (health.verdict === 'worse') return { passed: false, worse: true, reason: reason ?? '' }
    if (health.verdict === 'same-or-better' || rule.onLittleData === 'pass') return { passed: true }
    if (rule.onLittleData === 'stop' || times === longest)
      return { passed: false, worse: false, reason: reason ?? '' }
  }
}

/** Looks on until the window is over. What is found once and is beyond doubt is the verdict. */
async function lookOn(
  domains: Domain[],
  at: number,
  { after, readyAt }: HealthWindows,
  before: DomainCounts,
  rule: HealthConfig,
  watching: Watching,
): Promise<WaveHealth | null> {
  const { clock, signal } = watching
  const { zone } = watching.settings
  const step = Math.min(grainMs[rule.grain], grainMs.hour)
  for (;;) {
    const now = clock.now()
    if (now >= readyAt || signal.aborted) return null
    const known = alignDown(Math.min(now - rule.lag * 1000, after.to), rule.grain, zone)
    if (known > after.from) {
      const health = await soFar(domains, before, { from: after.from, to: known }, rule, watching)
      if (health !== null && isClearlyWorse(health)) return health
      if (health !== null) reportWatched(at, now, health, rule, watching)
    }
    await waitUntil(Math.min(readyAt, Math.max(now, after.from + rule.lag * 1000) + step), watching)
  }
}

/**
 * How a wave looks before its window is over; null where nobody can say, which the next look may.
 */
async function soFar(
  domains: Domain[],
  before: DomainCounts,
  window: Window,
  rule: HealthConfig,
  watching: Watching,
): Promise<WaveHealth | null> {
  try {
    return judgeWave(before, await watching.service.count(domains, window), rule)
  } catch (error) {
    if (!isTransient(error)) throw error
    return null
  }
}

function reportWatched(
  at: number,
  now: number,
  { whole }: WaveHealth,
  { statuses }: HealthConfig,
  { report }: Watching,
): void {
  report({
    type: 'wave.watched',
    time: timeOf(now),
    wave: at + 1,
    statuses,
    before: whole.before,
    after: whole.after,
  })
}

function reportWaiting(
  { waves }: Rollout,
  at: number,
  time: number,
  reason: 'pause' | 'health' | 'baseline',
  { clock, report }: Watching,
): void {
  const domains = waves[at]?.domains.length ?? 0
  report({
    type: 'wave.waiting',
    time: timeOf(clock.now()),
    wave: at + 1,
    waves: waves.length,
    domains,
    until: timeOf(time),
    reason,
  })
}

function reportJudged(
  at: number,
  { verdict, whole, domains }: WaveHealth,
  reason: string | null,
  { clock, report }: Watching,
): void {
  const named = [...domains].flatMap(([domain, each]) =>
    each.verdict === 'worse' ? [{ domain, before: each.before, after: each.after }] : [],
  )
  const about = { verdict, reason, before: whole.before, after: whole.after, worse: named }
  report({ type: 'wave.judged', time: timeOf(clock.now()), wave: at + 1, ...about })
}

function timeOf(time: number): string {
  return new Date(time).toISOString()
}
