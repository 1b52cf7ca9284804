import { isDeepStrictEqual } from 'node:util'
import type { ApplyResult } from '../apply/run.ts'
import type { Rollout } from '../model/rollout.ts'
import { markWaiting, type Stop } from './approvals.ts'
import type { RolloutContext } from './ports.ts'
import { nameWave } from './wave-part.ts'
import { formatNow } from './wave-times.ts'

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
  if (!isDeepStrictEqual(stored, waiting))
    await store.saveRollout(waiting, `Rollout ${id}: ${describe(reason, name)}`)
  const command = `edgewise rollout approve ${id}`
  result.waitsFor = reason
  result.stopped =
    `${describe(reason, name)}. "${command}" ` +
    `${reason === 'paused' ? 'resumes' : 'approves'} it, then "edgewise apply" continues it`
  report({
    type: 'rollout.waiting-for-approval',
    time: formatNow(context),
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
