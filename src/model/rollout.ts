import type { Domain, ItemKey } from './item.ts'

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
  author: string | null
  /**
   * All except `open` are over, and are kept while they put domains on hold. `taking-back`: its
   * rollback was started and is not known to be finished.
   */
  state: 'open' | 'stopped' | 'taking-back' | 'taken-back'
  /** Reason why it is over; null while it is open. */
  reason: string | null
  /** Selected items; empty for all. */
  items: ItemKey[]
  /** Hash of the desired configuration of each of its domains. */
  asked: Record<Domain, string>
  /** Domains on hold: skipped until their manifest changes. */
  held: Domain[]
  waves: RolloutWave[]
  /** Domains that are only released, in the first wave. */
  released: Domain[]
  /** Ids of its applies, first to last. */
  applies: string[]
}

/** One wave of a rollout: its domains and its progress. */
export interface RolloutWave {
  domains: Domain[]
  /** Null before it started. */
  applied: AppliedTimes | null
  /** Whether its checks are over, and the next wave may start. */
  passed: boolean
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
}

/** Returns the index of the first wave that has not passed, from 0; null if all have. */
export function findCurrentWave({ waves }: Rollout): number | null {
  const wave = waves.findIndex(({ passed }) => !passed)
  return wave === -1 ? null : wave
}
