import type { RolloutFile } from './generated/state-types.ts'
import type { Domain, ItemKey } from './item.ts'

/** Hashes of desired values by domain and item, as `hashItems` returns them. */
export type ItemHashes = Record<Domain, Record<ItemKey, string>>

/**
 * A change that is rolled out wave by wave, each wave in a separate apply. It outlives the process
 * that started it: the next apply of the same manifests resumes it. Its schema describes the keys.
 * All states except `open` are over, and are kept while they put values on hold.
 */
export interface Rollout extends Omit<RolloutFile, 'format' | 'values' | 'onHold' | 'unhealthy'> {
  /** Value that it gives each item that it changes. */
  values: ItemHashes
  /** Values on hold: no apply sends them until somebody repeats them. */
  onHold: ItemHashes
  /** Values that its health check found worse, and that stayed; absent for none. */
  unhealthy?: ItemHashes
}

/** Selects the values of some domains. */
export function selectDomains(values: ItemHashes, domains: Iterable<Domain>): ItemHashes {
  return Object.fromEntries(
    [...domains].flatMap((domain) =>
      Object.hasOwn(values, domain) ? [[domain, values[domain] ?? {}]] : [],
    ),
  )
}

/** One wave of a rollout: its domains and its progress. */
export type RolloutWave = Rollout['waves'][number]

/** Verdict of the health check of a wave, with its statistics. */
export type Judged = NonNullable<RolloutWave['judged']>

/** Names how a rollout ended: `rolled back`. */
export const nameEnd = (state: string) => state.replace('-', ' ')

/** Describes how a rollout ended: `rolled back: wave 1 of 3: 5xx rose on …`. */
export function describeEnding(rollout: Pick<Rollout, 'state' | 'reason'>): string {
  return [nameEnd(rollout.state), rollout.reason ?? []].flat().join(': ')
}

/** A decision about a rollout: who made it, and when (ISO 8601). */
export type Decision = NonNullable<Rollout['paused']>

/** What one approver has approved of a wave. */
export type Given = NonNullable<NonNullable<RolloutWave['approval']>['given']>[number]

/** Times of a wave from before its first write to after its last outcome, ISO 8601. */
export type AppliedTimes = NonNullable<RolloutWave['applied']>

/** Tests whether a rollout has not ended. */
export function isUnfinished({ state }: Rollout): boolean {
  return state === 'open' || state === 'rolling-back'
}

/** Returns the index of the first wave that has not passed, from 0; null if all have. */
export function findCurrentWave({ waves }: Rollout): number | null {
  const wave = waves.findIndex(({ passed }) => !passed)
  return wave === -1 ? null : wave
}

/** Returns whether all waves of an open rollout have passed, and are only judged again. */
export function hasPassed(rollout: Rollout): boolean {
  return rollout.state === 'open' && findCurrentWave(rollout) === null
}

/** Returns the index of the next wave that is not known to be sent; null if all are. */
export function findNextWave({ waves }: Rollout): number | null {
  const next = waves.findIndex((wave) => !wave.passed && !isSent(wave))
  return next === -1 ? null : next
}

/** Returns whether all of a wave is known to be sent. */
export function isSent({ applied }: RolloutWave): boolean {
  return applied !== null && applied.to !== null && applied.incomplete === undefined
}

/** Returns a rollout that is not paused. */
export function dropPause({ paused: _paused, ...others }: Rollout): Rollout {
  return others
}
