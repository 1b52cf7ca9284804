import type { ApplyResult } from '../apply/run.ts'
import { computeWindows } from '../health/windows.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import type { RecordedState } from '../state/store.ts'
import { addResult, isComplete, createEmptyResult } from './add-results.ts'
import { findBaselineStart } from './baseline-start.ts'
import { failWave, stopRollout } from './end-rollout.ts'
import type { RolloutContext } from './ports.ts'
import { waitForBaseline, watchWave, needsWatching } from './watch-wave.ts'
import { selectWave, findChangedDomains } from './wave-part.ts'

/** How far a rollout is. */
interface Way {
  rollout: Rollout
  recorded: RecordedState
  /** What came of it so far, and the last wave whose writes are counted in it. */
  result: ApplyResult
  counted: number
}

/**
 * Rolls a plan out wave by wave. Between waves the lock is free. Each step is recorded, so that
 * another process can take over: each of them looks first at what is recorded, and does the next
 * step if nobody has done it.
 *
 * @param rollout a new one, or the one that the plan continues
 * @throws EdgewiseError what ends it before anything is sent
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
    time: timeOf(context),
    apply: id,
    writes: plan.writes.length,
    releases,
    waves: waves.length,
  })
  const way: Way = { rollout, recorded, result, counted: 0 }
  try {
    await steps(plan, way, context)
  } catch (error) {
    if (!(error instanceof EdgewiseError) || !result.sent) throw error
    const name = nameWave(way.rollout, findCurrentWave(way.rollout) ?? waves.length - 1)
    result.stopped ??= `${error.message}; the rollout stays open at ${name}, and the next apply goes on with it`
  }
  result.notSent += plan.writes.filter(({ wave }) => wave > way.counted).length
  result.recorded = way.recorded
  const { confirmed, refused, inDoubt, notSent, stopped, takenBack } = result
  const counts = { confirmed, refused, inDoubt, notSent, takenBack }
  context.report({ type: 'apply.finished', time: timeOf(context), apply: id, stopped, ...counts })
  return result
}

async function steps(plan: Plan, way: Way, context: RolloutContext): Promise<void> {
  const { result } = way
  const { store } = context
  const first = findCurrentWave(way.rollout)
  for (let at = first; at !== null; at = findCurrentWave(way.rollout)) {
    const name = nameWave(way.rollout, at)
    const part = selectWave(plan, way.rollout, at, at === first)
    let whole = true
    if (part.changes.length > 0) {
      const [moved] = findChangedDomains(part, way.recorded)
      if (moved !== undefined)
        return leave(`the record of ${moved} changed since the plan was made; apply again`, result)
      const domains = [...new Set(part.writes.flatMap((write) => write.domains))]
      const baselineAt =
        way.rollout.waves[at]?.applied === null
          ? baselineTime(domains, way.recorded, context)
          : null
      if (baselineAt !== null) {
        const wave = at
        await store.saveRollout(
          way.rollout,
          `Rollout ${way.rollout.id}: ${name} waits for figures of the time before it`,
        )
        await context.applying.whileUnlocked(() =>
          waitForBaseline(way.rollout, wave, baselineAt, context),
        )
        const gone = await lookAgain(way, context)
        if (gone !== null) return leave(gone, result)
        continue
      }
      const ready = await context.applying.prepare(part, way.recorded)
      await refuseUnwatchable(domains, context)
      const done = await executeWave(ready, at, way, context)
      whole = isComplete(done)
      const early = done.stopped !== null || done.unrecorded !== null
      if (!whole && context.signal.aborted) return
      if (!whole && (early || context.settings.rule === null))
        return stopRollout(way.rollout, `${name} was not carried out whole`, [], result, context)
      await store.saveRollout(way.rollout, `Rollout ${way.rollout.id}: ${name} is applied`)
    }
    way.counted = at + 1
    // The process that sent the wave died before it could say when that was over.
    if (way.rollout.waves[at]?.applied?.to === null) way.rollout = ended(way.rollout, at, context)
    // Of a wave that others have brought about there is nothing to see.
    if (
      way.rollout.waves[at]?.applied !== null &&
      needsWatching(way.rollout, at, context.settings)
    ) {
      const wave = at
      const watched = await context.applying.whileUnlocked(() =>
        watchWave(way.rollout, wave, context),
      )
      const gone = await lookAgain(way, context)
      if (gone !== null || watched === null) return leave(gone ?? interrupted, result)
      // Another process has gone on meanwhile.
      if (findCurrentWave(way.rollout) !== at) continue
      if (!watched.passed) return failWave(way.rollout, at, watched, way.recorded, result, context)
    }
    if (!whole)
      return stopRollout(way.rollout, `${name} was not carried out whole`, [], result, context)
    const passed = withWave(way.rollout, at, { passed: true })
    if (findCurrentWave(passed) !== null)
      await store.saveRollout(passed, `Rollout ${passed.id}: ${name} passed`)
    way.rollout = passed
  }
  await store.deleteRollouts([way.rollout.id], `Rollout ${way.rollout.id}: complete`)
}

const interrupted = 'interrupted; apply again to go on with the rollout'

/** When there will be a baseline to compare a wave with, ms since 1970; null where there is one. */
function baselineTime(
  domains: Domain[],
  recorded: RecordedState,
  { clock, settings }: RolloutContext,
): number | null {
  if (settings.rule === null) return null
  const now = clock.now()
  const time = findBaselineStart(domains, recorded, now, settings.rule)
  return time <= now ? null : time
}

/** Refuses before a wave begins what could not be watched. */
async function refuseUnwatchable(
  domains: Domain[],
  { clock, service, settings }: RolloutContext,
): Promise<void> {
  if (settings.rule === null) return
  const now = clock.now()
  await service.count(domains, computeWindows(now, now, settings.rule, settings.zone).before)
}

/** What others did while the lock was free. Why the rollout does not go on here, or null. */
async function lookAgain(way: Way, { store, signal }: RolloutContext): Promise<string | null> {
  if (signal.aborted) return interrupted
  const recorded = await store.load()
  const rollout = (await store.listRollouts()).find(
    ({ id, state }) => id === way.rollout.id && state === 'open',
  )
  if (rollout === undefined) return 'another apply has ended this rollout'
  Object.assign(way, { recorded, rollout })
  return null
}

/**
 * Executes a wave; that it was begun is recorded before, so that it can be rolled back whatever
 * happens.
 */
async function executeWave(
  part: Plan,
  at: number,
  way: Way,
  context: RolloutContext,
): Promise<ApplyResult> {
  const before = way.rollout
  const id = `${before.id}-w${before.applies.length + 1}`
  const from = before.waves[at]?.applied?.from ?? timeOf(context)
  way.rollout = withWave({ ...before, applies: [...before.applies, id] }, at, {
    applied: { from, to: null },
  })
  await context.store.saveRollout(
    way.rollout,
    `Rollout ${before.id}: begins ${nameWave(before, at)}`,
  )
  const result = await context.applying.execute(part, id, way.recorded)
  way.recorded = result.recorded
  addResult(way.result, result)
  way.counted = at + 1
  way.rollout = ended(way.rollout, at, context)
  return result
}

/** The rollout stays open for whoever applies next, or was ended by somebody else. */
function leave(why: string, result: ApplyResult): void {
  result.stopped = why
}

function withWave(rollout: Rollout, at: number, more: Partial<Rollout['waves'][number]>): Rollout {
  return {
    ...rollout,
    waves: rollout.waves.map((wave, i) => (i === at ? { ...wave, ...more } : wave)),
  }
}

/** The clock may have been set back meanwhile. */
function ended(rollout: Rollout, at: number, context: RolloutContext): Rollout {
  const now = timeOf(context)
  const from = rollout.waves[at]?.applied?.from ?? now
  return withWave(rollout, at, {
    applied: { from, to: Date.parse(now) < Date.parse(from) ? from : now },
  })
}

function nameWave({ waves }: Rollout, at: number): string {
  return `wave ${at + 1} of ${waves.length}`
}

function timeOf({ clock }: Pick<RolloutContext, 'clock'>): string {
  return new Date(clock.now()).toISOString()
}
