import type { ApplyResult } from '../apply/run.ts'
import { interrupted } from '../../core/model/outcome.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { RolloutContext } from './ports.ts'

/** Progress of a rollout. */
export interface Progress {
  rollout: Rollout
  /** The rollout as it was last recorded. */
  saved: Rollout
  recorded: RecordedState
  /** Total so far, and the number of the last wave that is included. */
  result: ApplyResult
  counted: number
  /** The last wave that this process sent, and its end by the monotonic clock. */
  sent: { waveIndex: number; endedAtMs: number } | null
}

/** Reason of a rollout that ends because of an interrupt. */
export const interruptedRollout = `${interrupted}; apply again to resume the rollout`

/** Reason of a rollout that is recorded no more. */
export const endedElsewhere = 'another apply has ended this rollout'

/** Records the rollout. */
export async function saveProgress(
  event: string,
  progress: Progress,
  { store }: RolloutContext,
): Promise<void> {
  const { rollout } = progress
  await store.saveRollout(rollout, `Rollout ${rollout.id}: ${event}`)
  progress.saved = rollout
}

/** Reloads the state after the lock was free. Returns why the rollout ends here, or null. */
export async function reload(
  progress: Progress,
  { store, signal }: RolloutContext,
): Promise<string | null> {
  if (signal.aborted) return interruptedRollout
  const recorded = await store.load()
  const rollout = (await store.listRollouts()).find(({ id }) => id === progress.rollout.id)
  if (rollout === undefined) {
    progress.recorded = recorded
    return endedElsewhere
  }
  if (rollout.state !== 'open')
    return `the rollout has ended meanwhile: ${rollout.reason ?? rollout.state}`
  Object.assign(progress, { recorded, rollout, saved: rollout })
  return null
}
