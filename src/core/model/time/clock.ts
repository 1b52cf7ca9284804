/**
 * Waits that a clock may treat in a special way: between two heartbeats of a lock, before outcomes
 * are shared, before the next step of a rollout, and until a former lock holder has noticed.
 */
export type WaitName = 'lock-beat' | 'sharing' | 'rollout' | 'revoked'

/** Wall clock and waiting, passed in so that tests need neither. */
export interface Clock {
  /** Wall clock: milliseconds since 1970. It may be set at any time. */
  now(): number
  /**
   * Milliseconds since the boot of this machine, the same for all its processes. Never set, never
   * runs backwards.
   */
  monotonic(): number
  /** Resolves after `ms` milliseconds, or immediately if `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal, name?: WaitName): Promise<void>
}
