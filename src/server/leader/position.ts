import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'

/** Where this replica stands. */
export interface Position {
  /** Fencing number of its term; null while it does not lead. */
  term: number | null
  /** Whether another replica has become the leader after it. */
  isOvertaken: boolean
  /** Whether it can't fetch the branch while another replica can. */
  isCutOff: boolean
  /** Last sign that its loop works, by the monotonic clock, ms. */
  tickMs: number
  /** From when on the database could not be reached, by the monotonic clock, ms; null if it is. */
  awayMs: number | null
}

/**
 * Notes an attempt to reach the database.
 *
 * @returns for how long it was away, ms, once it is reached again; null otherwise
 */
export function noteTick(
  position: Position,
  isReached: boolean,
  nowMs: number,
  metrics: Pick<ServerMetrics, 'setDatabase'>,
): number | null {
  const { awayMs } = position
  position.tickMs = nowMs
  position.awayMs = isReached ? null : (awayMs ?? nowMs)
  metrics.setDatabase(isReached)
  return isReached && awayMs !== null ? nowMs - awayMs : null
}

/** Names what a replica is: one that ends has no term, and will not get one. */
export function findRole(
  { term, isOvertaken }: Pick<Position, 'term' | 'isOvertaken'>,
  signal: AbortSignal,
): 'leader' | 'standby' | 'ending' {
  if (isOvertaken || signal.aborted) return 'ending'
  return term === null ? 'standby' : 'leader'
}
