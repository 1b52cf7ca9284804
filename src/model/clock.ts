/**
 * Names the waits that a clock may treat in its own way: between two signs of life of a lock, until
 * outcomes are shared, and until the next step of a rollout.
 */
export type WaitName = 'lock-beat' | 'sharing' | 'rollout'

/** Wall clock and waiting, handed in so that tests need neither. */
export interface Clock {
  /** Wall clock: milliseconds since 1970. It may be set at any time. */
  now(): number
  /**
   * Milliseconds since the boot of this machine, the same for all of its processes; never set,
   * never runs backwards.
   */
  monotonic(): number
  /** Resolves after so many milliseconds, or at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal, name?: WaitName): Promise<void>
}
