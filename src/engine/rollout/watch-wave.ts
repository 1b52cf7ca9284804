import type { HealthWindows } from '../../core/model/health.ts'
import {
  type AppliedTimes,
  type Rollout,
  findNextWave,
  hasPassed,
  isSent,
  type RolloutWave,
} from '../../core/model/rollout.ts'
import { alignDown, grainMs } from '../../core/model/statistics.ts'
import { inSpan } from '../../core/model/telemetry.ts'
import { decidingWindows, isClearlyWorse, maxExtension } from '../../core/health/judge.ts'
import { computeWindows, computeLength, findLook } from '../../core/health/windows.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { createComparison, type ComparedWave, type CompareWave } from './baseline-start.ts'
import type { RolloutSettings, Watched, Watching, Failed } from './ports.ts'
import type { HealthConfig } from '../../core/model/config.ts'
import {
  explain,
  explainUncertain,
  reportJudged,
  reportWaiting,
  reportWatched,
} from './report-wave.ts'
import { isTransient, retryQuery, waitForStep } from './wait.ts'
import { computePauseLeft, findWaveTimes } from './waves.ts'

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
 * @param endedAtMs end of the wave by the monotonic clock; null if another process sent it
 * @returns null after an interrupt
 * @throws EdgewiseError the errors of queries, RolloutSuspended if its caller waits itself
 */
export function watchWave(
  rollout: Rollout,
  waveIndex: number,
  endedAtMs: number | null,
  recorded: RecordedState,
  watching: Watching,
): Promise<Watched> {
  const { clock, settings, signal } = watching
  const { rule, pauseMs } = settings
  const watch = async (): Promise<Watched> => {
    const applied = rollout.waves[waveIndex]?.applied ?? null
    if (applied === null) throw new TypeError('expected a wave that was sent')
    const pauses = waveIndex + 1 < rollout.waves.length && pauseMs > 0
    const left = pauses ? await computePauseLeft(applied, endedAtMs, pauseMs, watching) : 0
    const pauseEnd = clock.monotonic() + left
    const pauseLeft = () => Math.max(0, pauseEnd - clock.monotonic())
    if (rule !== null) {
      const watched = await judge(rollout, waveIndex, applied, pauseLeft, recorded, rule, watching)
      if (watched === null || !watched.passed) return watched
    }
    if (pauseLeft() > 0) {
      reportWaiting(rollout, waveIndex, pauseLeft(), 'pause', watching)
      await waitForStep(pauseLeft(), watching)
    }
    if (signal.aborted) return null
    const isLast = waveIndex + 1 === rollout.waves.length
    return isLast ? lookBack(rollout, recorded, watching) : { passed: true }
  }
  return inSpan('watch wave', watch, { 'edgewise.wave': waveIndex + 1 })
}

/** Reports that a wave has no baseline yet, and waits for it; throws as `watchWave`. */
export async function waitForBaseline(
  rollout: Rollout,
  waveIndex: number,
  ms: number,
  watching: Watching,
): Promise<void> {
  reportWaiting(rollout, waveIndex, ms, 'baseline', watching)
  await waitForStep(ms, watching)
}

/**
 * Judges a wave. Its window is extended once to decide on a rise that may be one of the variations
 * of the baseline. Windows are also extended while there is too little data, if `onLittleData` is
 * `wait`, and while the service's time is unknown, unless it is `stop`: no wave passes by the clock
 * of this machine.
 */
async function judge(
  rollout: Rollout,
  waveIndex: number,
  applied: AppliedTimes,
  pauseLeft: () => number,
  recorded: RecordedState,
  rule: HealthConfig,
  watching: Watching,
): Promise<Watched> {
  const domains = rollout.waves[waveIndex]?.domains ?? []
  await watching.time.ask()
  const report = (ms: number) => reportWaiting(rollout, waveIndex, ms, 'health', watching)
  let times = 1
  for (;;) {
    const written = findWaveTimes(applied, watching)
    const { from, to, isService, now } = written
    const longer = { ...rule, window: rule.window * times }
    const windows = computeWindows(from, to, longer, watching.settings.zone)
    report(Math.max(windows.readyAt - now(), pauseLeft()))
    const compare = createComparison(domains, recorded, windows.before, written, rule, watching)
    const early = await watchWindow(compare, waveIndex, { ...windows, now }, rule, watching)
    if (watching.signal.aborted) return null
    const compared = early ?? (await retryQuery(() => compare(windows.after), report, watching))
    const isUncertain = compared.isUncertain && times < decidingWindows
    // A verdict by this machine's clock may stop a wave, and never passes it.
    const isOpen = isUncertain || (!isService && compared.verdict !== 'worse')
    const health: ComparedWave = isOpen ? { ...compared, verdict: 'too-little-data' } : compared
    const reason = isUncertain
      ? explainUncertain(compared, rule, decidingWindows)
      : explain(health, rule, isService ? null : applied)
    reportJudged(waveIndex, health, reason, { rule, written }, watching)
    if (isUncertain) {
      times = decidingWindows
      continue
    }
    const failed = { passed: false, reason: reason ?? '', waveIndex } as const
    if (health.verdict === 'worse') return { ...failed, worse: true }
    const passes = health.verdict === 'same-or-better' || rule.onLittleData === 'pass'
    if (passes && isService) return { passed: true }
    if (rule.onLittleData === 'stop' || times >= maxExtension) return { ...failed, worse: false }
    times++
  }
}

/** Watches a wave until its window ends; returns its health early if it is clearly worse. */
async function watchWindow(
  compare: CompareWave,
  waveIndex: number,
  { after, readyAt, now }: HealthWindows & { now(): number },
  rule: HealthConfig,
  watching: Watching,
): Promise<ComparedWave | null> {
  const { settings, signal } = watching
  const step = Math.min(grainMs[rule.grain], grainMs.hour)
  for (;;) {
    const nowMs = now()
    if (nowMs >= readyAt || signal.aborted) return null
    const known = alignDown(Math.min(nowMs - rule.lag * 1000, after.to), rule.grain, settings.zone)
    if (known > after.from) {
      const health = await unlessUnavailable(compare({ from: after.from, to: known }))
      if (health !== null && isClearlyWorse(health)) return health
      if (health !== null) reportWatched(waveIndex, health, rule, watching)
    }
    const next = Math.max(nowMs, after.from + rule.lag * 1000) + step
    await waitForStep(Math.min(readyAt, next) - nowMs, watching)
  }
}

/** Returns the result of queries; null if the service does not answer. */
async function unlessUnavailable<T>(queries: Promise<T>): Promise<T | null> {
  try {
    return await queries
  } catch (error) {
    if (!isTransient(error)) throw error
    return null
  }
}

/**
 * Looks back at the waves that were sent: a change may show when the time in the cache is over.
 * Before another wave begins, looks go on for some windows while a rise is uncertain, and for one
 * after the first wave; once all waves have passed, until `health.after` is over.
 *
 * @returns null after an interrupt
 * @throws EdgewiseError the errors of queries, RolloutSuspended if its caller waits itself
 */
export async function lookBack(
  rollout: Rollout,
  recorded: RecordedState,
  watching: Watching,
): Promise<Watched> {
  const { rule, zone } = watching.settings
  const sent = rollout.waves.findLastIndex(isSent)
  const applied = rollout.waves[sent]?.applied ?? null
  if (rule === null || applied === null) return { passed: true }
  // What waits is the next wave: those that were sent have been judged.
  const next = findNextWave(rollout)
  const report = (ms: number) => reportWaiting(rollout, next ?? sent, ms, 'health', watching)
  for (;;) {
    const failed = await retryQuery(
      () => judgeAgain(rollout.waves, recorded, rule, watching),
      report,
      watching,
    )
    const worse = failed.find((each) => each.worse)
    if (worse !== undefined) return worse
    const { to, now } = findWaveTimes(applied, watching)
    const lengthMs = computeLength(rule)
    const more = next !== null && failed.length > 0 ? decidingWindows : Number(next === 1)
    const end = hasPassed(rollout)
      ? to + rule.after * 1000
      : computeWindows(to, to, rule, zone).readyAt + more * lengthMs
    const left = Math.min(end - now(), lengthMs)
    if (left <= 0) return { passed: true }
    report(left)
    await waitForStep(left, watching)
    if (watching.signal.aborted) return null
  }
}

/**
 * Compares each wave with its baseline by its latest whole window, and decides on a rise by a
 * longer one; asks for each domain twice. Returns those that are worse, or may be by later windows.
 */
async function judgeAgain(
  waves: RolloutWave[],
  recorded: RecordedState,
  rule: HealthConfig,
  watching: Watching,
): Promise<Failed[]> {
  await watching.time.ask()
  const failed: Failed[] = []
  for (const [waveIndex, { applied, domains }] of waves.entries()) {
    if (applied?.to == null) continue
    const written = findWaveTimes(applied, watching)
    const windows = computeWindows(written.from, written.to, rule, watching.settings.zone)
    const look = findLook(windows, written.now() - rule.lag * 1000, decidingWindows)
    if (look === null || !written.isService) continue
    const compare = createComparison(domains, recorded, windows.before, written, rule, watching)
    const latest = await compare(look.latest)
    if (!latest.isUncertain && latest.verdict !== 'worse') continue
    const health = await compare(look.deciding, look.share)
    const worse = health.verdict === 'worse'
    const reason = explain(health, rule, null) ?? ''
    if (worse) reportJudged(waveIndex, health, reason, { rule, written }, watching)
    failed.push({ passed: false, worse, reason, waveIndex })
  }
  return failed
}
