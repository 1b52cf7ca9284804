import type { ApplyResult } from '../apply/run.ts'
import { isAchieved } from '../../core/diff/diff-snapshots.ts'
import { computeWindows } from '../../core/health/windows.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import { formatLocalTime } from '../../core/model/text/words.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { countParts } from '../apply/counts.ts'
import { addResult, createEmptyResult, isComplete } from '../apply/results.ts'
import { findBaselineStart } from './baseline-start.ts'
import { findStop, hasApproval } from './approvals.ts'
import { explainOpen, failWave, stopRollout, stopBefore } from './end-rollout.ts'
import type { RolloutContext } from './ports.ts'
import {
  endedElsewhere,
  interruptedRollout,
  reload,
  saveProgress,
  type Progress,
} from './progress.ts'
import { RolloutSuspended, waitFor } from './wait.ts'
import { waitForBaseline, watchWave, needsWatching } from './watch-wave.ts'
import {
  findChangedDomains,
  nameWave,
  selectWave,
  markBegun,
  markEnded,
  readTime,
  updateWave,
} from './waves.ts'

/**
 * Rolls a plan out wave by wave. The lock is free between waves. Each step is recorded, so that
 * another process can take over: a process reloads the state before each step, and takes the step
 * unless another process has.
 *
 * @param rollout a new rollout, or the one that the plan resumes
 * @throws EdgewiseError when the rollout ends before anything is sent
 */
export async function rollOut(
  plan: Plan,
  rollout: Rollout,
  recorded: RecordedState,
  context: RolloutContext,
): Promise<ApplyResult> {
  const result: ApplyResult = { ...createEmptyResult(recorded), open: true }
  const { id, waves } = rollout
  const releases = plan.changes.filter(({ action }) => action === 'release').length
  context.report({
    type: 'apply.started',
    apply: id,
    writes: plan.writes.length,
    releases,
    waves: waves.length,
  })
  const progress: Progress = { rollout, saved: rollout, recorded, result, counted: 0, sent: null }
  try {
    await runWaves(plan, progress, context)
  } catch (error) {
    if (error instanceof RolloutSuspended) {
      result.waitsFor = 'pausing'
      result.waitMs = error.waitMs
      const until = formatLocalTime(context.clock.now() + error.waitMs)
      result.stopped = `It waits until ${until}; "edgewise apply" resumes it then`
    } else if (!(error instanceof EdgewiseError) || !result.sent) throw error
    else result.stopped ??= explainEarlyEnd(error, progress)
  }
  const unsent = plan.writes.filter(({ wave }) => wave > progress.counted)
  result.notSent += unsent.length
  result.parts.notSent += countParts(unsent)
  result.recorded = progress.recorded
  const { confirmed, refused, inDoubt, notSent, parts, stopped, takenBack, open } = result
  const counts = { confirmed, refused, inDoubt, notSent, parts, takenBack, open }
  context.report({ type: 'apply.finished', apply: id, stopped, ...counts })
  return result
}

function explainEarlyEnd({ message }: EdgewiseError, { rollout, saved }: Progress): string {
  const name = (each: Rollout) => nameWave(each, findCurrentWave(each) ?? each.waves.length - 1)
  return explainOpen(message, name(rollout), name(saved))
}

async function runWaves(plan: Plan, progress: Progress, context: RolloutContext): Promise<void> {
  const { result } = progress
  const save = (event: string) => saveProgress(event, progress, context)
  const end = (name: string) =>
    stopRollout(progress.rollout, `${name} was not applied completely`, [], result, context)
  /** Leaves a rollout that stays open for the next apply, or that another apply has ended. */
  const leaveOpen = (why: string) => void (result.stopped = why)
  const leave = (reason: string) => {
    if (reason !== interruptedRollout) delete result.open
    if (reason !== endedElsewhere || !isAchieved(plan.changes, progress.recorded))
      return leaveOpen(reason)
    result.elsewhere = plan.writes.filter(({ wave }) => wave > progress.counted).length
    progress.counted = Infinity
  }
  const first = findCurrentWave(progress.rollout)
  for (let waveIndex = first; waveIndex !== null; waveIndex = findCurrentWave(progress.rollout)) {
    const name = nameWave(progress.rollout, waveIndex)
    const part = selectWave(plan, progress.rollout, waveIndex, waveIndex === first)
    let complete = true
    let isWatched = false
    const stop = part.writes.length === 0 ? null : findStop(progress.rollout, waveIndex)
    if (stop !== null) return stopBefore(progress.rollout, waveIndex, stop, result, context)
    if (part.changes.length > 0) {
      const [moved] = findChangedDomains(part, progress.recorded)
      if (moved !== undefined)
        return leaveOpen(`the state of ${moved} changed since the plan was made; apply again`)
      const domains = [...new Set(part.writes.flatMap((write) => write.domains))]
      const baselineMs =
        progress.rollout.waves[waveIndex]?.applied === null
          ? await computeBaselineWait(domains, progress.recorded, context)
          : 0
      if (baselineMs > 0) {
        const wave = waveIndex
        await save(`${name} waits for its baseline`)
        await context.applying.whileUnlocked(() =>
          waitForBaseline(progress.rollout, wave, baselineMs, context),
        )
        const reason = await reload(progress, context)
        if (reason !== null) return leave(reason)
        continue
      }
      await refuseUnwatchable(domains, context)
      const ready = await context.applying.prepare(part, progress.recorded)
      const before = progress.rollout
      const done = await executeWave(ready, waveIndex, progress, context)
      complete = isComplete(done)
      const endedEarly = done.stopped !== null || done.unrecorded !== null
      if (!complete && context.signal.aborted) return
      // The service accepted nothing of the wave: the next apply begins it again.
      if (!complete && !done.sent && (before.applies.length > 0 || hasApproval(before))) {
        progress.rollout = { ...before, applies: progress.rollout.applies }
        await save(`${name} was not sent`)
        return leaveOpen(explainOpen(done.stopped ?? `${name} was not sent`, name))
      }
      if (!complete && (endedEarly || context.settings.rule === null)) return end(name)
      await save(`${name} is applied`)
    }
    progress.counted = waveIndex + 1
    // The process that sent the wave died before it recorded the end of the wave.
    if (progress.rollout.waves[waveIndex]?.applied?.to === null) {
      await context.time.ask()
      endWave(waveIndex, progress, context)
    }
    // A wave that other applies have brought about has nothing to watch.
    if (
      progress.rollout.waves[waveIndex]?.applied !== null &&
      needsWatching(progress.rollout, waveIndex, context.settings)
    ) {
      const wave = waveIndex
      isWatched = true
      // Resumed later, a wave with refused or in-doubt writes would be sent again.
      const watching = { ...context, suspends: context.suspends && complete }
      const watched = await context.applying.whileUnlocked(() =>
        watchWave(progress.rollout, wave, findEnd(wave, progress), progress.recorded, watching),
      )
      const reason = await reload(progress, context)
      if (reason !== null || watched === null) return leave(reason ?? interruptedRollout)
      // Another process has resumed the rollout meanwhile.
      if (findCurrentWave(progress.rollout) !== waveIndex) continue
      if (!watched.passed)
        return failWave(progress.rollout, waveIndex, watched, progress.recorded, result, context)
    }
    if (!complete) return end(name)
    const passed = updateWave(progress.rollout, waveIndex, { passed: true })
    progress.rollout = passed
    const next = findCurrentWave(passed)
    if (next === null) break
    await save(`${name} passed`)
    if (part.writes.length > 0 && !isWatched && findStop(passed, next) === null) {
      await context.applying.whileUnlocked(() => waitFor(giveWayMs, context))
      const reason = await reload(progress, context)
      if (reason !== null) return leave(reason)
    }
  }
  await context.store.deleteRollouts(
    [progress.rollout.id],
    `Rollout ${progress.rollout.id}: complete`,
  )
  delete result.open
}

/** Time without the lock between waves without a pause, ms: others look for it every second. */
const giveWayMs = 5000

/** Computes the time until a wave has a baseline, ms; 0 if it has one now. */
async function computeBaselineWait(
  domains: Domain[],
  recorded: RecordedState,
  context: RolloutContext,
): Promise<number> {
  const { clock, time, settings } = context
  if (settings.rule === null) return 0
  await time.ask()
  const nowMs = readTime(context)
  return findBaselineStart(domains, recorded, nowMs, clock.now() - nowMs, settings.rule) - nowMs
}

/** Refuses to begin a wave whose statistics can't be queried. */
async function refuseUnwatchable(domains: Domain[], context: RolloutContext): Promise<void> {
  const { service, settings } = context
  if (settings.rule === null) return
  const nowMs = readTime(context)
  await service.count(domains, computeWindows(nowMs, nowMs, settings.rule, settings.zone).before)
}

/** Executes a wave. Its start is recorded first, so that it can be rolled back in any case. */
async function executeWave(
  part: Plan,
  waveIndex: number,
  progress: Progress,
  context: RolloutContext,
): Promise<ApplyResult> {
  const before = progress.rollout
  const id = `${before.id}-w${before.applies.length + 1}`
  progress.rollout = markBegun({ ...before, applies: [...before.applies, id] }, waveIndex, context)
  await saveProgress(`begins ${nameWave(before, waveIndex)}`, progress, context)
  const result = await context.applying.execute(part, id, progress.recorded)
  progress.recorded = result.recorded
  addResult(progress.result, result)
  progress.counted = waveIndex + 1
  endWave(waveIndex, progress, context)
  return result
}

function endWave(waveIndex: number, progress: Progress, context: RolloutContext): void {
  progress.rollout = markEnded(progress.rollout, waveIndex, context)
  progress.sent = { waveIndex, endedAtMs: context.clock.monotonic() }
}

/** Finds the end of a wave by the monotonic clock, ms; null if another process sent it. */
function findEnd(waveIndex: number, { sent }: Progress): number | null {
  return sent?.waveIndex === waveIndex ? sent.endedAtMs : null
}
