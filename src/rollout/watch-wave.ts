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

/** Context for watching a wave. */
type Watching = Pick<RolloutContext, 'clock' | 'service' | 'settings' | 'signal' | 'report'>

/** Verdict on a watched wave; null after an interrupt. */
export type Watched = { passed: true } | { passed: false; worse: boolean; reason: string } | null

/** Maximum factor by which a window with too little data is extended. */
const maxExtension = 12

/** Returns whether a rollout has to wait after a wave. */
export function needsWatching(
  { waves }: Rollout,
  waveIndex: number,
  { pauseMs, rule }: RolloutSettings,
): boolean {
  return rule !== null || (waveIndex + 1 < waves.length && pauseMs > 0)
}

/**
 * Waits until the next wave may begin: for the pause, and for a verdict that compares the
 * statistics of the domains with their baseline. A clearly worse wave ends the wait.
 *
 * @returns null after an interrupt
 * @throws EdgewiseError the errors of queries
 */
export async function watchWave(
  rollout: Rollout,
  waveIndex: number,
  watching: Watching,
): Promise<Watched> {
  const { clock, signal } = watching
  const { rule, pauseMs } = watching.settings
  const wave = rollout.waves[waveIndex]
  const [from, to] = [Date.parse(wave?.applied?.from ?? ''), Date.parse(wave?.applied?.to ?? '')]
  const pausedUntil = waveIndex + 1 < rollout.waves.length ? to + pauseMs : to
  if (rule !== null) {
    const watched = await judge(rollout, waveIndex, { from, to }, pausedUntil, rule, watching)
    if (watched === null || !watched.passed) return watched
  }
  if (clock.now() < pausedUntil) {
    reportWaiting(rollout, waveIndex, pausedUntil, 'pause', watching)
    await waitUntil(pausedUntil, watching)
  }
  return signal.aborted ? null : { passed: true }
}

/** Reports and waits until a wave has a baseline. */
export async function waitForBaseline(
  rollout: Rollout,
  waveIndex: number,
  time: number,
  watching: Watching,
): Promise<void> {
  reportWaiting(rollout, waveIndex, time, 'baseline', watching)
  await waitUntil(time, watching)
}

/**
 * Judges a wave. Its windows are extended while there is too little data, if `onLittleData` is
 * `wait`.
 */
async function judge(
  rollout: Rollout,
  waveIndex: number,
  applied: Window,
  pausedUntil: number,
  rule: HealthConfig,
  watching: Watching,
): Promise<Watched> {
  const domains = rollout.waves[waveIndex]?.domains ?? []
  const counts = (window: Window) =>
    retryQuery(
      () => watching.service.count(domains, window),
      (next) => reportWaiting(rollout, waveIndex, next, 'health', watching),
      watching,
    )
  for (let times = 1; ; times++) {
    const windows = computeWindows(
      applied.from,
      applied.to,
      { ...rule, window: rule.window * times },
      watching.settings.zone,
    )
    reportWaiting(rollout, waveIndex, Math.max(windows.readyAt, pausedUntil), 'health', watching)
    const before = await counts(windows.before)
    const early = await watchWindow(domains, waveIndex, windows, before, rule, watching)
    if (watching.signal.aborted) return null
    const health = early ?? judgeWave(before, await counts(windows.after), rule)
    const reason =
      health.verdict === 'worse' ? explainWorse(health, rule) : explainTooLittleData(health, rule)
    reportJudged(waveIndex, health, reason, watching)
    if (health.verdict === 'worse') return { passed: false, worse: true, reason: reason ?? '' }
    if (health.verdict === 'same-or-better' || rule.onLittleData === 'pass') return { passed: true }
    if (rule.onLittleData === 'stop' || times === maxExtension)
      return { passed: false, worse: false, reason: reason ?? '' }
  }
}

/** Watches a wave until its window ends; returns its health early if it is clearly worse. */
async function watchWindow(
  domains: Domain[],
  waveIndex: number,
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
      const health = await judgeSoFar(
        domains,
        before,
        { from: after.from, to: known },
        rule,
        watching,
      )
      if (health !== null && isClearlyWorse(health)) return health
      if (health !== null) reportWatched(waveIndex, now, health, rule, watching)
    }
    await waitUntil(Math.min(readyAt, Math.max(now, after.from + rule.lag * 1000) + step), watching)
  }
}

/** Judges a wave before its window ends; null if the service does not answer. */
async function judgeSoFar(
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
  waveIndex: number,
  now: number,
  { whole }: WaveHealth,
  { statuses }: HealthConfig,
  { report }: Watching,
): void {
  report({
    type: 'wave.watched',
    time: formatTime(now),
    wave: waveIndex + 1,
    statuses,
    before: whole.before,
    after: whole.after,
  })
}

function reportWaiting(
  { waves }: Rollout,
  waveIndex: number,
  time: number,
  reason: 'pause' | 'health' | 'baseline',
  { clock, report }: Watching,
): void {
  const domains = waves[waveIndex]?.domains.length ?? 0
  report({
    type: 'wave.waiting',
    time: formatTime(clock.now()),
    wave: waveIndex + 1,
    waves: waves.length,
    domains,
    until: formatTime(time),
    reason,
  })
}

function reportJudged(
  waveIndex: number,
  { verdict, whole, domains }: WaveHealth,
  reason: string | null,
  { clock, report }: Watching,
): void {
  const named = [...domains].flatMap(([domain, each]) =>
    each.verdict === 'worse' ? [{ domain, before: each.before, after: each.after }] : [],
  )
  const about = { verdict, reason, before: whole.before, after: whole.after, worse: named }
  report({ type: 'wave.judged', time: formatTime(clock.now()), wave: waveIndex + 1, ...about })
}

function formatTime(time: number): string {
  return new Date(time).toISOString()
}
