import type { Domain, ItemKey } from './item.ts'

/**
 * A change that goes out wave by wave, each an apply of its own. It outlives the process that began
 * it: whoever applies the same manifests goes on where it was.
 */
export interface Rollout {
  id: string
  /** ISO 8601. */
  startedAt: string
  /** The commit of the workspace, and who began it; null where that is not known. */
  commit: string | null
  author: string | null
  /**
   * All but `open` ones are over, and are kept for what they hold. `taking-back` is one whose way
   * back was begun, and is not known to have come to its end.
   */
  state: 'open' | 'stopped' | 'taking-back' | 'taken-back'
  /** Why it is over; null while it is open. */
  reason: string | null
  /** The items that were chosen; none where all are meant. */
  items: ItemKey[]
  /** Of each of its domains a hash of what its manifest asks for. */
  asked: Record<Domain, string>
  /**
   * Domains whose state as asked for is not applied any more, until something else is asked for.
   */
  held: Domain[]
  waves: RolloutWave[]
  /** Domains that are only released, which goes with the first wave. */
  released: Domain[]
  /** Ids of its applies, first to last. */
  applies: string[]
}

/** One wave of a rollout: the domains that change in it, and how far it is. */
export interface RolloutWave {
  domains: Domain[]
  /**
   * From before its first write to after its last outcome, ISO 8601; null before it was begun, and
   * where it is not known to have ended.
   */
  applied: { from: string; to: string | null } | null
  /** Whether it was looked after, and the next one may begin. */
  passed: boolean
}

/** The first wave that has not passed, counted from 0; null when all have. */
export function findCurrentWave({ waves }: Rollout): number | null {
  const wave = waves.findIndex(({ passed }) => !passed)
  return wave === -1 ? null : wave
}
