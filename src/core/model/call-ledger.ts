/** Calls to the service that ended at the same time, by the monotonic clock, ms. */
export interface TimedCalls {
  time: number
  count: number
}

/** A process that waits for calls, or is about to; times by the monotonic clock, ms. */
export interface WaitingProcess {
  /** Its calls of the last minute, those in flight included. */
  used: number
  /** Number of calls that it waits for. */
  wanted: number
  /** When it expects to be allowed one, and when it counts as gone. */
  from: number
  until: number
}

/** Calls and waits of other processes with the same account. */
export interface OtherCalls {
  calls: TimedCalls[]
  waiting: WaitingProcess[]
}

/** Calls that a process waits for. */
export interface WantedCalls {
  count: number
  /** Time until it expects to be allowed one, ms. */
  inMs: number
}

/**
 * The recent calls of all processes that use the call rate of one account. Calls in flight have a
 * time in the future, at which they must have ended.
 */
export interface CallLedger {
  /**
   * Loads the calls of other processes.
   *
   * @param wanted shows the others for a few seconds that this process waits; without it nothing is
   *   changed
   */
  load(wanted?: WantedCalls): Promise<OtherCalls>
  /**
   * Replaces the calls of this process if those of the others allow it; returns whether they do. No
   * other process reserves calls in between.
   *
   * @param wanted calls that this process wants, the reserved one included: it is likely to want as
   *   many again, and counts as waiting for some seconds
   */
  reserve(
    own: () => TimedCalls[],
    allows: (others: OtherCalls) => boolean,
    wanted: number,
  ): Promise<boolean>
  /** Replaces the calls of this process, of which none is new. */
  record(own: () => TimedCalls[]): Promise<void>
}
