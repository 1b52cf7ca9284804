import type { ApplyResult } from '../apply/run.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import type { RecordedState } from '../state/store.ts'
import { addResult, isComplete } from './add-results.ts'
import type { RolloutContext } from './ports.ts'

/** Ends a rollout where it is. One that puts nothing on hold is forgotten. */
export async function stopRollout(
  rollout: Rollout,
  why: string,
  held: Domain[],
  result: ApplyResult,
  { store }: RolloutContext,
): Promise<void> {
  result.stopped ??= why
  const message = `Rollout ${rollout.id}: stopped (${why})`
  if (held.length === 0) await store.deleteRollouts([rollout.id], message)
  else await store.saveRollout({ ...rollout, state: 'stopped', reason: why, held }, message)
}

/**
 * Ends a rollout whose wave is worse, or can't be judged: nothing more goes out, and what the
 * manifests ask for is put on hold. What was sent is rolled back where the workspace asks for that.
 *
 * @param at the wave, counted from 0
 */
export async function failWave(
  rollout: Rollout,
  at: number,
  { worse, reason }: { worse: boolean; reason: string },
  recorded: RecordedState,
  result: ApplyResult,
  context: RolloutContext,
): Promise<void> {
  const why = `wave ${at + 1} of ${rollout.waves.length}: ${reason}`
  if (!worse || context.settings.rule?.onFailure !== 'rollback') {
    const later = rollout.waves.slice(at + 1).flatMap(({ domains }) => domains)
    return stopRollout(rollout, why, later, result, context)
  }
  result.takenBack = false
  try {
    await rollBack(rollout, why, recorded, result, context)
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    // Why it has to be rolled back matters more than why it could not be.
    result.stopped = `${why}; it could not be taken back: ${error.message}; ${finish(rollout)}`
  }
}

async function rollBack(
  rollout: Rollout,
  why: string,
  recorded: RecordedState,
  result: ApplyResult,
  { store, applying, clock, report }: RolloutContext,
): Promise<void> {
  // On hold before anything is rolled back, so that whatever happens meanwhile nobody sends it
  // again.
  const held: Rollout = {
    ...rollout,
    state: 'taking-back',
    reason: why,
    held: Object.keys(rollout.asked),
  }
  await store.saveRollout(held, `Rollout ${rollout.id}: ${why}`)
  const reportWrites = (writes: number) =>
    report({
      type: 'rollout.taking-back',
      time: new Date(clock.now()).toISOString(),
      apply: rollout.id,
      reason: why,
      writes,
    })
  const back = await applying.rollBack(rollout, recorded, reportWrites)
  if (typeof back === 'string') {
    result.stopped = `${why}; it could not be taken back: ${back}`
    return store.saveRollout(
      { ...held, state: 'stopped' },
      `Rollout ${rollout.id}: nothing of it can be taken back`,
    )
  }
  addResult(result, back.result)
  const whole = isComplete(back.result)
  result.takenBack = whole && back.irreversible === null
  const butFor = back.irreversible === null ? '' : ` but for ${back.irreversible}`
  result.stopped = whole
    ? `${why}; taken back${butFor}`
    : `${why}; not all of it could be taken back; ${finish(rollout)}`
  if (whole)
    await store.saveRollout({ ...held, state: 'taken-back' }, `Rollout ${rollout.id}: taken back`)
}

function finish({ id }: Rollout): string {
  return `"edgewise rollback ${id}" goes on with that`
}
