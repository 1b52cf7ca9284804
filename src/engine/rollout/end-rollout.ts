import type { ApplyResult } from '../apply/run.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { dropPause, findNextWave, selectDomains, type Rollout } from '../../core/model/rollout.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { addResult, isComplete } from '../apply/results.ts'
import type { Failed, RolloutContext } from './ports.ts'
import { isDeepStrictEqual } from 'node:util'
import { markWaiting, type Stop } from './approvals.ts'
import { nameWave, formatNow } from './waves.ts'

/**
 * Stops a rollout.
 *
 * @param domains those whose values are on hold from then on
 * @param unhealthy those whose values stay, though they are worse
 */
export async function stopRollout(
  rollout: Rollout,
  why: string,
  domains: Domain[],
  result: ApplyResult,
  context: RolloutContext,
  unhealthy: Domain[] = [],
): Promise<void> {
  result.stopped ??= why
  const onHold = selectDomains(rollout.values, domains)
  const endedAt = formatNow(context)
  const marked =
    unhealthy.length === 0 ? {} : { unhealthy: selectDomains(rollout.values, unhealthy) }
  const own = { ...dropPause(rollout), state: 'stopped' as const, reason: why }
  result.rollout = { ...own, endedAt, onHold, ...marked }
  await context.store.saveRollout(result.rollout, `Rollout ${rollout.id}: stopped (${why})`)
  delete result.open
}

/**
 * Ends a rollout whose wave is worse or can't be judged: no further wave is sent, and the remaining
 * domains are put on hold. Sent changes are rolled back if the workspace is configured so.
 */
export async function failWave(
  rollout: Rollout,
  { worse, reason, waveIndex }: Failed,
  recorded: RecordedState,
  result: ApplyResult,
  context: RolloutContext,
): Promise<void> {
  const why = `${nameWave(rollout, waveIndex)}: ${reason}`
  if (!worse || context.settings.rule?.onFailure !== 'rollback') {
    const domains = rollout.waves.map((wave) => wave.domains)
    const next = findNextWave(rollout) ?? domains.length
    const sent = worse ? domains.slice(0, next).flat() : []
    return stopRollout(rollout, why, domains.slice(next).flat(), result, context, sent)
  }
  result.takenBack = false
  try {
    await rollBack(rollout, why, recorded, result, context)
  } catch (error) {
    throwDefect(error)
    // The reason for the rollback comes first, then the reason why it failed.
    const failure = `it could not be rolled back: ${error.message}`
    result.stopped = `${why}; ${failure}; ${describeFinish(rollout)}`
  }
}

async function rollBack(
  rollout: Rollout,
  why: string,
  recorded: RecordedState,
  result: ApplyResult,
  context: RolloutContext,
): Promise<void> {
  const { store, applying, report } = context
  // Put on hold before the rollback starts, so that no other apply sends the changes again.
  const failed: Rollout = {
    ...dropPause(rollout),
    state: 'rolling-back',
    reason: why,
    endedAt: formatNow(context),
    onHold: rollout.values,
  }
  await store.saveRollout(failed, `Rollout ${rollout.id}: ${why}`)
  delete result.open
  const reportWrites = (writes: number) =>
    report({ type: 'rollout.taking-back', apply: rollout.id, reason: why, writes })
  const rolledBack = await applying.rollBack(failed, recorded, reportWrites)
  if (typeof rolledBack === 'string') {
    result.stopped = `${why}; it could not be rolled back: ${rolledBack}`
    return store.saveRollout(
      { ...failed, state: 'stopped' },
      `Rollout ${rollout.id}: nothing can be rolled back`,
    )
  }
  addResult(result, rolledBack.result)
  const complete = isComplete(rolledBack.result)
  result.takenBack = complete && rolledBack.irreversible === null
  const exceptions = rolledBack.irreversible === null ? '' : ` except ${rolledBack.irreversible}`
  result.stopped = complete
    ? `${why}; rolled back${exceptions}`
    : `${why}; not all of it could be rolled back; ${describeFinish(rollout)}`
  if (complete)
    await store.saveRollout(
      { ...failed, state: 'rolled-back' },
      `Rollout ${rollout.id}: rolled back`,
    )
}

function describeFinish({ id }: Rollout): string {
  return `"edgewise rollback ${id}" finishes the rollback`
}

/**
 * Explains why a rollout stays open at a wave.
 *
 * @param recordedName name of the wave in the last step that was recorded
 */
export function explainOpen(why: string, name: string, recordedName = name): string {
  if (recordedName === name)
    return `${why}; the rollout stays open at ${name}, and the next apply resumes it`
  return (
    `${why}; the rollout stays open; it reached ${name}, but the recorded state may still show ` +
    `${recordedName}; the next apply resumes it`
  )
}

/** Stops a rollout before a wave, and records that the wave waits. The rollout stays open. */
export async function stopBefore(
  rollout: Rollout,
  waveIndex: number,
  reason: Stop,
  result: ApplyResult,
  context: RolloutContext,
): Promise<void> {
  const { store, report } = context
  const waiting = markWaiting(rollout, waveIndex, formatNow(context))
  const { id, waves } = waiting
  const name = nameWave(waiting, waveIndex)
  const stored = (await store.listRollouts()).find((each) => each.id === id)
  if (!isDeepStrictEqual(stored, waiting)) {
    await store.saveRollout(waiting, `Rollout ${id}: ${describe(reason, name)}`)
    result.waitsAnew = reason === 'approval'
  }
  result.rollout = waiting
  const verb = reason === 'paused' ? 'resume' : 'approve'
  const command = `edgewise rollout ${verb} ${id}`
  result.waitsFor = reason
  const next = `"${command}" ${verb}s it, then "edgewise apply" continues it`
  result.stopped = `${describe(reason, name)}. ${next}`
  report({
    type: 'rollout.waiting-for-approval',
    apply: id,
    wave: waveIndex + 1,
    waves: waves.length,
    domains: waves[waveIndex]?.domains.length ?? 0,
    reason,
    command,
  })
}

function describe(reason: Stop, name: string): string {
  return reason === 'paused' ? `the rollout is paused before ${name}` : `${name} waits for approval`
}
