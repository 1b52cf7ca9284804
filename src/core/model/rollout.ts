import type { UntimedEvent } from './events.ts'
import type { Domain, ItemKey } from './item.ts'
import type { Actor } from './people/identity.ts'
import type { Committed } from './source-tree.ts'

/** Hashes of desired values by domain and item, as `hashItems` returns them. */
export type ItemHashes = Record<Domain, Record<ItemKey, string>>

/**
 * A change that is rolled out wave by wave, each wave in a separate apply. It outlives the process
 * that started it: the next apply of the same manifests resumes it.
 */
export interface Rollout {
  id: string
  /** ISO 8601. */
  startedAt: string
  /** Commit of the workspace, and the user that started it; null if unknown. */
  commit: string | null
  /** Of its commit; absent where they are not known. */
  committed?: Committed | undefined
  author: string | null
  /** Whether its commit has roles, and no commit that was applied before had any. */
  firstRoles?: true
  /**
   * All except `open` are over, and are kept while they put values on hold. `rolling-back`: its
   * rollback was started and is not known to be finished. One with state `rolled-back` and without
   * waves is a rollback by a person.
   */
  state: 'open' | 'stopped' | 'rolling-back' | 'rolled-back' | 'complete'
  /** Reason why it is over; null while it is open, and if it is complete. */
  reason: string | null
  /** When it was over, ISO 8601; null while it is open. */
  endedAt: string | null
  /** Present while it is paused: no further wave begins. */
  paused?: Decision
  /** Selected items; empty for all. */
  items: ItemKey[]
  /** Hash of the desired configuration of each of its domains. */
  desiredHashes: Record<Domain, string>
  /** Value that it gives each item that it changes. */
  values: ItemHashes
  /** Values on hold: no apply sends them until somebody repeats them. */
  onHold: ItemHashes
  /** Values that its health check found worse, and that stayed; absent for none. */
  unhealthy?: ItemHashes
  waves: RolloutWave[]
  /** Domains that are only released, in the first wave. */
  released: Domain[]
  /** Ids of its applies, first to last. */
  applies: string[]
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
export interface RolloutWave {
  domains: Domain[]
  /** Number of domains that are left out once it has ended; absent for none. */
  more?: number
  /** Null before it started. */
  applied: AppliedTimes | null
  /** Whether its checks are over, and the next wave may start. */
  passed: boolean
  /** Last verdict of its health check; absent without one. */
  judged?: Judged
  /** Present if it begins only after an approval. */
  approval?: WaveApproval
}

/** Verdict of the health check of a wave, with its statistics. */
export type Judged = Extract<UntimedEvent, { type: 'wave.judged' }>

/** Names how a rollout ended: `rolled back`. */
export const nameEnd = (state: string) => state.replace('-', ' ')

/** Describes how a rollout ended: `rolled back: wave 1 of 3: 5xx rose on …`. */
export function describeEnding(rollout: Pick<Rollout, 'state' | 'reason'>): string {
  return [nameEnd(rollout.state), rollout.reason ?? []].flat().join(': ')
}

/** A decision about a rollout: who made it, and when (ISO 8601). */
export interface Decision {
  /** Name, for people. */
  author: string
  at: string
  /** Who that is; absent where several did it together. */
  by?: Actor
}

/** What one approver has approved of a wave. */
export interface Given extends Decision {
  /** Hash of the wave. */
  wave: string
  /** Domains of the wave that it counts for; absent for all. */
  domains?: Domain[]
}

/** Approval of a wave. */
export interface WaveApproval {
  /** When the rollout stopped before the wave, ISO 8601; null until then. */
  waitingSince: string | null
  /** All approvals, first to last, also if they are not enough yet; absent without one. */
  given?: Given[]
  /** Null until somebody has approved the wave; `wave` is the hash of the approved one. */
  approved: (Decision & { wave: string }) | null
}

/** Times of a wave from before its first write to after its last outcome, ISO 8601. */
export interface AppliedTimes {
  /** By the clocks of the machines that sent it. */
  from: string
  /** Null while it is not known to have ended. */
  to: string | null
  /** By the service's clock; null where it was unknown. */
  serviceFrom: string | null
  serviceTo: string | null
  /** Present if a part of it was not confirmed: the next apply sends the rest. */
  incomplete?: true
}

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
