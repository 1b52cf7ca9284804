import { periodMs, type Limits, type Period } from '../core/model/outcome.ts'

/** Calls that a period of the service allows no more. */
export interface UsedUp {
  period: Period
  /** When its count resets, by the monotonic clock, ms. */
  untilMs: number
  /** Whether the service reported that; otherwise a whole period is assumed. */
  isReported: boolean
}

/**
 * The calls that the service allows by its headers, for each period that it counts (specification,
 * "Limits"). All times are of the monotonic clock.
 */
export class ServiceLimits {
  readonly #periods = new Map<Period, UsedUp & { left: number }>()

  /** Counts a call that begins; -1 for one that does not begin after all. */
  begin(calls = 1): void {
    for (const limit of this.#periods.values()) limit.left -= calls
  }

  /** @param running calls in flight: the service may not have counted them yet */
  update({ remaining, resetMs, period = 'minute' }: Limits, running: number, nowMs: number): void {
    if (remaining === null) return
    this.#periods.set(period, {
      period,
      left: remaining - running,
      untilMs: nowMs + (resetMs ?? periodMs[period]),
      isReported: resetMs !== null,
    })
  }

  /** Finds the used-up period that ends last; null if a call is allowed. */
  findUsedUp(nowMs: number): UsedUp | null {
    const usedUp = [...this.#periods.values()].filter(
      ({ left, untilMs }) => left <= 0 && untilMs > nowMs,
    )
    return usedUp.toSorted((a, b) => b.untilMs - a.untilMs)[0] ?? null
  }
}
