import { type ApplyResult, countParts } from '../apply/run.ts'
import { isAchieved } from '../../core/diff/diff-snapshots.ts'
import { computeWindows } from '../../core/health/windows.ts'
import { EdgewiseError, InterruptedError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { dropPause, findCurrentWave, type Judged, type Rollout } from '../../core/model/rollout.ts'
import { formatEnd } from '../../core/model/text/words.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { addResult, createEmptyResult, isComplete } from '../apply/results.ts'
import { findBaselineStart } from './baseline-start.ts'
import { findStop, hasApproval } from './approvals.ts'
import { lookBack, waitForBaseline, watchWave, needsWatching } from './watch-wave.ts'
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
import {
  findChangedDomains,
  formatNow,
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
      const until = formatEnd(context.clock.now(), error.waitMs)
      result.stopped = `It waits until ${until}; "edgewise apply" resumes it then`
    } else if (!(error instanceof EdgewiseError) || !result.sent) throw error
    else if (result.stopped === null) {
      result.stopped = explainEarlyEnd(error, progress)
      if (error instanceof InterruptedError) result.interrupted = 'rollout'
    }
  }
  const unsent = plan.writes.filter(({ wave }) => wave > progress.counted)
  result.notSent += unsent.length
  result.parts.notSent += countParts(unsent)
  result.recorded = progress.recorded
  result.rollout ??= progress.rollout
  const { confirmed, refused, inDoubt, notSent, parts, takenBack, open } = result
  const { stopped, interrupted } = result
  const history = context.store.chain?.newest?.hash
  const counts = { confirmed, refused, inDoubt, notSent, parts, takenBack, open, history }
  context.report({ type: 'apply.finished', apply: id, stopped, interrupted, ...counts })
  return result
}

function explainEarlyEnd({ message }: EdgewiseError, { rollout, saved }: Progress): string {
  const name = (each: Rollout) => nameWave(each, findCurrentWave(each) ?? each.waves.length - 1)
  return explainOpen(message, name(rollout), name(saved))
}

async function runWaves(plan: Plan, progress: Progress, context: RolloutContext): Promise<void> {
  const first = findCurrentWave(progress.rollout)
  for (let wave = first; wave !== null; wave = findCurrentWave(progress.rollout)) {
    const part = selectWave(plan, progress.rollout, wave, wave === first)
    if ((await runWave(part, wave, plan, progress, context)) === 'left') return
  }
  if (first !== null) delete progress.result.open
  else if ((await watch(null, plan, progress, context)) === 'left') return
  if (first !== null && context.looksBack && context.settings.rule !== null)
    return saveProgress('all waves passed', progress, context)
  const endedAt = formatNow(context)
  progress.rollout = { ...dropPause(progress.rollout), state: 'complete', endedAt }
  await saveProgress('complete', progress, context)
}

/**
 * The end of a step of a wave; `again`: the current wave is looked for again; `left`: the rollout.
 */
type StepEnd = 'done' | 'incomplete' | 'again' | 'left'

/** Applies a wave, watches it, and records that it has passed. */
async function runWave(
  part: Plan,
  wave: number,
  plan: Plan,
  progress: Progress,
  context: RolloutContext,
): Promise<StepEnd> {
  const { result } = progress
  const name = nameWave(progress.rollout, wave)
  // Some time may have gone by since the wave before passed.
  if (wave > 0 && part.writes.length > 0 && context.settings.rule !== null) {
    const looked = await watch(wave, plan, progress, context)
    if (looked !== 'done') return looked
  }
  const stop = part.writes.length === 0 ? null : findStop(progress.rollout, wave)
  if (stop !== null) {
    await stopBefore(progress.rollout, wave, stop, result, context)
    return 'left'
  }
  const applied = await applyWave(part, wave, plan, progress, context)
  if (applied === 'again' || applied === 'left') return applied
  progress.counted = wave + 1
  // The process that sent the wave died before it recorded the end of the wave.
  if (progress.rollout.waves[wave]?.applied?.to === null) {
    await context.time.ask()
    endWave(wave, progress, context)
  }
  // A wave that other applies have brought about has nothing to watch.
  const isWatched =
    progress.rollout.waves[wave]?.applied !== null &&
    needsWatching(progress.rollout, wave, context.settings)
  if (isWatched) {
    // Resumed later, a wave with refused or in-doubt writes would be sent again.
    const suspends = context.suspends && applied === 'done'
    const watched = await watch(wave, plan, progress, context, (watching) =>
      watchWave(progress.rollout, wave, findEnd(wave, progress), progress.recorded, {
        ...watching,
        suspends,
      }),
    )
    if (watched !== 'done') return watched
  }
  if (applied === 'incomplete') return endIncomplete(wave, progress, context)
  const passed = updateWave(progress.rollout, wave, { passed: true })
  progress.rollout = passed
  const next = findCurrentWave(passed)
  if (next === null) return 'done'
  await saveProgress(`${name} passed`, progress, context)
  if (part.writes.length === 0 || isWatched || findStop(passed, next) !== null) return 'done'
  await context.applying.whileUnlocked(() => waitFor(giveWayMs, context))
  const reason = await reload(progress, context)
  return reason === null ? 'done' : leave(reason, plan, progress)
}

/** Applies the writes of a wave once it has a baseline. */
async function applyWave(
  part: Plan,
  wave: number,
  plan: Plan,
  progress: Progress,
  context: RolloutContext,
): Promise<StepEnd> {
  if (part.changes.length === 0) return 'done'
  const name = nameWave(progress.rollout, wave)
  const [moved] = findChangedDomains(part, progress.recorded)
  if (moved !== undefined)
    return leaveOpen(`the state of ${moved} changed since the plan was made; apply again`, progress)
  const domains = [...new Set(part.writes.flatMap((write) => write.domains))]
  const isBegun = progress.rollout.waves[wave]?.applied !== null
  const waitMs = isBegun ? 0 : await computeBaselineWait(domains, progress.recorded, context)
  if (waitMs > 0) {
    await saveProgress(`${name} waits for its baseline`, progress, context)
    await context.applying.whileUnlocked(() =>
      waitForBaseline(progress.rollout, wave, waitMs, context),
    )
    const reason = await reload(progress, context)
    return reason === null ? 'again' : leave(reason, plan, progress)
  }
  await refuseUnwatchable(domains, context)
  const ready = await context.applying.prepare(part, progress.recorded)
  const before = progress.rollout
  const done = await executeWave(ready, wave, progress, context)
  const complete = isComplete(done)
  if (!complete && context.signal.aborted) return 'left'
  // The service accepted nothing of the wave: the next apply begins it again.
  if (!complete && !done.sent && (before.applies.length > 0 || hasApproval(before))) {
    progress.rollout = { ...before, applies: progress.rollout.applies }
    await saveProgress(`${name} was not sent`, progress, context)
    return leaveOpen(explainOpen(done.stopped ?? `${name} was not sent`, name), progress)
  }
  // As after an interrupt, the next apply sends the rest of the wave.
  if (!complete && done.sent && context.applying.isAccountStopped())
    return leaveOpen(explainOpen(done.stopped ?? `${name} was stopped`, name), progress)
  const endedEarly = done.stopped !== null || done.unrecorded !== null
  // What was confirmed before is watched no second time.
  const isSame = done.confirmed === 0 && before.waves[wave]?.applied?.incomplete === true
  if (!complete && (endedEarly || isSame || context.settings.rule === null))
    return endIncomplete(wave, progress, context)
  await saveProgress(`${name} is applied`, progress, context)
  return complete ? 'done' : 'incomplete'
}

/** Worse domains of a verdict that are kept. */
const maxWorse = 50

/**
 * Watches waves without the lock, or looks back at them, and ends the rollout if one is unhealthy.
 *
 * @param wave the current wave; null if all have passed
 */
async function watch(
  wave: number | null,
  plan: Plan,
  progress: Progress,
  context: RolloutContext,
  work = (watching: RolloutContext) => lookBack(progress.rollout, progress.recorded, watching),
): Promise<StepEnd> {
  const judged: Judged[] = []
  const report: RolloutContext['report'] = (event) => {
    if (event.type === 'wave.judged')
      judged.push({ ...event, worse: event.worse.slice(0, maxWorse) })
    context.report(event)
  }
  const watched = await context.applying.whileUnlocked(() => work({ ...context, report }))
  const reason = await reload(progress, context)
  if (reason !== null || watched === null)
    return leave(reason ?? interruptedRollout, plan, progress)
  // Another process has resumed the rollout meanwhile.
  if (findCurrentWave(progress.rollout) !== wave) return 'again'
  for (const each of judged)
    progress.rollout = updateWave(progress.rollout, each.wave - 1, { judged: each })
  if (watched.passed) return 'done'
  const { rollout, recorded, result } = progress
  await failWave(rollout, watched, recorded, result, context)
  return 'left'
}

/**
 * Stops a rollout whose wave was not applied completely. One that was approved stays open, with its
 * approvals: the next apply of the same manifests sends the rest of the wave.
 */
async function endIncomplete(
  wave: number,
  progress: Progress,
  context: RolloutContext,
): Promise<'left'> {
  const { rollout, result } = progress
  const name = nameWave(rollout, wave)
  const why = result.stopped ?? `${name} was not applied completely`
  const applied = rollout.waves[wave]?.applied ?? null
  if (applied !== null && hasApproval(rollout)) {
    progress.rollout = updateWave(rollout, wave, { applied: { ...applied, incomplete: true } })
    await saveProgress(`${name} is incomplete`, progress, context)
    return leaveOpen(explainOpen(why, name), progress)
  }
  await stopRollout(rollout, why, [], result, context)
  return 'left'
}

/** Leaves a rollout that stays open for the next apply. */
function leaveOpen(why: string, { result }: Progress): 'left' {
  result.stopped = why
  return 'left'
}

/** Leaves a rollout after an interrupt, or once another apply has ended it. */
function leave(reason: string, { changes, writes }: Plan, progress: Progress): 'left' {
  const { result } = progress
  if (reason === interruptedRollout) result.interrupted = 'rollout'
  else delete result.open
  if (reason !== endedElsewhere || !isAchieved(changes, progress.recorded))
    return leaveOpen(reason, progress)
  result.elsewhere = writes.filter(({ wave }) => wave > progress.counted).length
  progress.counted = Infinity
  return 'left'
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
  const isLast = waveIndex === before.waves.length - 1
  const result = await context.applying.execute(part, id, progress.recorded, isLast)
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
