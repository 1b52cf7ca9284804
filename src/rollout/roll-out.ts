import type { ApplyResult } from '../apply/run.ts'
import { computeWindows } from '../health/windows.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import type { RecordedState } from '../state/store.ts'
import { countParts } from '../apply/counts.ts'
import { createEmptyResult } from '../apply/empty-result.ts'
import { addResult, isComplete } from './add-results.ts'
import { findBaselineStart } from './baseline-start.ts'
import { failWave, stopRollout } from './end-rollout.ts'
import type { RolloutContext } from './ports.ts'
import { waitForBaseline, watchWave, needsWatching } from './watch-wave.ts'
import { selectWave, findChangedDomains } from './wave-part.ts'

/** Progress of a rollout. */
interface Progress {
  rollout: Rollout
  recorded: RecordedState
  /** Total so far, and the number of the last wave that is included. */
  result: ApplyResult
  counted: number
}

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
  const result = createEmptyResult(recorded)
  const { id, waves } = rollout
  const releases = plan.changes.filter(({ action }) => action === 'release').length
  context.report({
    type: 'apply.started',
    time: formatNow(context),
    apply: id,
    writes: plan.writes.length,
    releases,
    waves: waves.length,
  })
  const progress: Progress = { rollout, recorded, result, counted: 0 }
  try {
    await runWaves(plan, progress, context)
  } catch (error) {
    if (!(error instanceof EdgewiseError) || !result.sent) throw error
    const name = nameWave(progress.rollout, findCurrentWave(progress.rollout) ?? waves.length - 1)
    const next = `the rollout stays open at ${name}, and the next apply resumes it`
    result.stopped ??= `${error.message}; ${next}`
  }
  const unsent = plan.writes.filter(({ wave }) => wave > progress.counted)
  result.notSent += unsent.length
  result.parts.notSent += countParts(unsent)
  result.recorded = progress.recorded
  const { confirmed, refused, inDoubt, notSent, parts, stopped, takenBack } = result
  const counts = { confirmed, refused, inDoubt, notSent, parts, takenBack }
  context.report({
    type: 'apply.finished',
    time: formatNow(context),
    apply: id,
    stopped,
    ...counts,
  })
  return result
}

async function runWaves(plan: Plan, progress: Progress, context: RolloutContext): Promise<void> {
  const { result } = progress
  const { store } = context
  const save = (event: string) =>
    store.saveRollout(progress.rollout, `Rollout ${progress.rollout.id}: ${event}`)
  const stop = (name: string) =>
    stopRollout(progress.rollout, `${name} was not applied completely`, [], result, context)
  const first = findCurrentWave(progress.rollout)
  for (let waveIndex = first; waveIndex !== null; waveIndex = findCurrentWave(progress.rollout)) {
    const name = nameWave(progress.rollout, waveIndex)
    const part = selectWave(plan, progress.rollout, waveIndex, waveIndex === first)
    let complete = true
    if (part.changes.length > 0) {
      const [moved] = findChangedDomains(part, progress.recorded)
      if (moved !== undefined)
        return leaveOpen(
          `the state of ${moved} changed since the plan was made; apply again`,
          result,
        )
      const domains = [...new Set(part.writes.flatMap((write) => write.domains))]
      const baselineAt =
        progress.rollout.waves[waveIndex]?.applied === null
          ? findBaselineTime(domains, progress.recorded, context)
          : null
      if (baselineAt !== null) {
        const wave = waveIndex
        await save(`${name} waits for its baseline`)
        await context.applying.whileUnlocked(() =>
          waitForBaseline(progress.rollout, wave, baselineAt, context),
        )
        const reason = await reload(progress, context)
        if (reason !== null) return leaveOpen(reason, result)
        continue
      }
      const ready = await context.applying.prepare(part, progress.recorded)
      await refuseUnwatchable(domains, context)
      const done = await executeWave(ready, waveIndex, progress, context)
      complete = isComplete(done)
      const endedEarly = done.stopped !== null || done.unrecorded !== null
      if (!complete && context.signal.aborted) return
      if (!complete && (endedEarly || context.settings.rule === null)) return stop(name)
      await save(`${name} is applied`)
    }
    progress.counted = waveIndex + 1
    // The process that sent the wave died before it recorded the end of the wave.
    if (progress.rollout.waves[waveIndex]?.applied?.to === null)
      progress.rollout = markEnded(progress.rollout, waveIndex, context)
    // A wave that other applies have brought about has nothing to watch.
    if (
      progress.rollout.waves[waveIndex]?.applied !== null &&
      needsWatching(progress.rollout, waveIndex, context.settings)
    ) {
      const wave = waveIndex
      const watched = await context.applying.whileUnlocked(() =>
        watchWave(progress.rollout, wave, context),
      )
      const reason = await reload(progress, context)
      if (reason !== null || watched === null) return leaveOpen(reason ?? interrupted, result)
      // Another process has resumed the rollout meanwhile.
      if (findCurrentWave(progress.rollout) !== waveIndex) continue
      if (!watched.passed)
        return failWave(progress.rollout, waveIndex, watched, progress.recorded, result, context)
    }
    if (!complete) return stop(name)
    const passed = updateWave(progress.rollout, waveIndex, { passed: true })
    if (findCurrentWave(passed) !== null)
      await store.saveRollout(passed, `Rollout ${passed.id}: ${name} passed`)
    progress.rollout = passed
  }
  await store.deleteRollouts([progress.rollout.id], `Rollout ${progress.rollout.id}: complete`)
}

const interrupted = 'interrupted; apply again to resume the rollout'

/** Finds the time at which a wave has a baseline, ms since 1970; null if it has one now. */
function findBaselineTime(
  domains: Domain[],
  recorded: RecordedState,
  { clock, settings }: RolloutContext,
): number | null {
  if (settings.rule === null) return null
  const now = clock.now()
  const time = findBaselineStart(domains, recorded, now, settings.rule)
  return time <= now ? null : time
}

/** Refuses to begin a wave whose statistics can't be queried. */
async function refuseUnwatchable(
  domains: Domain[],
  { clock, service, settings }: RolloutContext,
): Promise<void> {
  if (settings.rule === null) return
  const now = clock.now()
  await service.count(domains, computeWindows(now, now, settings.rule, settings.zone).before)
}

/** Reloads the state after the lock was free. Returns why the rollout ends here, or null. */
async function reload(
  progress: Progress,
  { store, signal }: RolloutContext,
): Promise<string | null> {
  if (signal.aborted) return interrupted
  const recorded = await store.load()
  const rollout = (await store.listRollouts()).find(
    ({ id, state }) => id === progress.rollout.id && state === 'open',
  )
  if (rollout === undefined) return 'another apply has ended this rollout'
  Object.assign(progress, { recorded, rollout })
  return null
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
  const from = before.waves[waveIndex]?.applied?.from ?? formatNow(context)
  progress.rollout = updateWave({ ...before, applies: [...before.applies, id] }, waveIndex, {
    applied: { from, to: null },
  })
  await context.store.saveRollout(
    progress.rollout,
    `Rollout ${before.id}: begins ${nameWave(before, waveIndex)}`,
  )
  const result = await context.applying.execute(part, id, progress.recorded)
  progress.recorded = result.recorded
  addResult(progress.result, result)
  progress.counted = waveIndex + 1
  progress.rollout = markEnded(progress.rollout, waveIndex, context)
  return result
}

/** Leaves a rollout that stays open for the next apply, or that another apply has ended. */
function leaveOpen(why: string, result: ApplyResult): void {
  result.stopped = why
}

function updateWave(
  rollout: Rollout,
  waveIndex: number,
  more: Partial<Rollout['waves'][number]>,
): Rollout {
  return {
    ...rollout,
    waves: rollout.waves.map((wave, i) => (i === waveIndex ? { ...wave, ...more } : wave)),
  }
}

/** Records the end of a wave, never before its start: the clock may have been set back. */
function markEnded(rollout: Rollout, waveIndex: number, context: RolloutContext): Rollout {
  const now = formatNow(context)
  const from = rollout.waves[waveIndex]?.applied?.from ?? now
  return updateWave(rollout, waveIndex, {
    applied: { from, to: Date.parse(now) < Date.parse(from) ? from : now },
  })
}

function nameWave({ waves }: Rollout, waveIndex: number): string {
  return `wave ${waveIndex + 1} of ${waves.length}`
}

function formatNow({ clock }: Pick<RolloutContext, 'clock'>): string {
  return new Date(clock.now()).toISOString()
}
