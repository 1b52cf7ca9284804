import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import type { Recorded } from '../state/store.ts'
import type { ApplyResult } from '../apply/run.ts'
import type { RolloutContext } from './roll-out.ts'
import { add, isWhole } from './add-results.ts'

type Ending = Pick<RolloutContext, 'takeBack' | 'keep' | 'drop'>

/** Ends a rollout where it is. One that holds nothing is forgotten. */
export async function stop(rollout: Rollout, why: string, held: Domain[], result: ApplyResult, context: Ending): Promise<void> {
  result.stopped ??= why
  const message = `Rollout ${rollout.id}: stopped (${why})`
  await (held.length === 0 ? context.drop(rollout, message) : context.keep({ ...rollout, state: 'stopped', reason: why, held }, message))
}

/**
 * A wave is worse, or nobody can say: nothing more goes out, and what was asked for is held. What was sent is taken back where
 * the workspace asks for that.
 *
 * @param at the wave, counted from 0
 */
export async function fail(
  rollout: Rollout,
  at: number,
  { worse, reason }: { worse: boolean; reason: string },
  recorded: Recorded,
  result: ApplyResult,
  context: Ending,
): Promise<void> {
  const why = `wave ${at + 1} of ${rollout.waves.length}: ${reason}`
  if (!worse || context.takeBack === null) {
    const later = rollout.waves.slice(at + 1).flatMap(({ domains }) => domains)
    return stop(rollout, why, later, result, context)
  }
  result.takenBack = false
  try {
    await takeBack(rollout, why, recorded, result, { ...context, takeBack: context.takeBack })
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    // Why it has to go back is more than why it could not.
    result.stopped = `${why}; it could not be taken back: ${error.message}; ${finish(rollout)}`
  }
}

async function takeBack(
  rollout: Rollout,
  why: string,
  recorded: Recorded,
  result: ApplyResult,
  context: Ending & { takeBack: NonNullable<RolloutContext['takeBack']> },
): Promise<void> {
  // Held before anything goes back, so that whatever happens meanwhile nobody sends it again.
  const held: Rollout = { ...rollout, state: 'taking-back', reason: why, held: Object.keys(rollout.asked) }
  await context.keep(held, `Rollout ${rollout.id}: ${why}`)
  const back = await context.takeBack(rollout, recorded, why)
  if (typeof back === 'string') {
    result.stopped = `${why}; it could not be taken back: ${back}`
    return context.keep({ ...held, state: 'stopped' }, `Rollout ${rollout.id}: nothing of it can be taken back`)
  }
  add(result, back.result)
  const whole = isWhole(back.result)
  result.takenBack = whole && back.lost === null
  const butFor = back.lost === null ? '' : ` but for ${back.lost}`
  result.stopped = whole ? `${why}; taken back${butFor}` : `${why}; not all of it could be taken back; ${finish(rollout)}`
  if (whole) await context.keep({ ...held, state: 'taken-back' }, `Rollout ${rollout.id}: taken back`)
}

function finish({ id }: Rollout): string {
  return `"edgewise rollback ${id}" goes on with that`
}
