import { decidingWindows } from '../../core/health/judge.ts'
import { computeLength, computeWindows, findLook } from '../../core/health/windows.ts'
import type { HealthConfig } from '../../core/model/config.ts'
import {
  findNextWave,
  hasPassed,
  isSent,
  type Rollout,
  type RolloutWave,
} from '../../core/model/rollout.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { createComparison } from './baseline-start.ts'
import type { Failed, Watched, Watching } from './ports.ts'
import { explain, reportJudged, reportWaiting } from './report-wave.ts'
import { retryQuery, waitForStep } from './wait.ts'
import { findWaveTimes } from './waves.ts'

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
