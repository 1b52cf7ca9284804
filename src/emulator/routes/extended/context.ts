import { formatLocalTime } from '../../../core/model/time/time-zone.ts'
import type { Store } from '../../store/store.ts'
import type { QueryRules } from '../answer-statistics.ts'
import type { WriteRules } from '../write-config.ts'
import {
  countCalls,
  filterRecentCalls,
  unlimitedCount,
  type CallCount,
} from '../../entities/call.ts'
import { Refusal } from '../refusal.ts'

/** Context of the extended routes. */
export interface ExtendedContext {
  store: Store
  rules: WriteRules & QueryRules & { deployMs?: number }
  limits: CallLimits
}

/** Formats a moment in the zone of the service; empty for none. */
export function formatMoment(time: number | null, { zone }: QueryRules): string {
  return time === null ? '' : formatLocalTime(zone.toLocal(time))
}

/** Calls of one kind, at most `limit` in `ms`. They are not kept across processes. */
class CallWindow {
  readonly #limit: number
  readonly #ms: number
  #times: number[] = []

  /** @param limit 0 is unlimited */
  constructor(limit: number, ms = 60_000) {
    this.#limit = limit
    this.#ms = ms
  }

  count(now: number): CallCount {
    return this.#limit === 0 ? unlimitedCount : countCalls(this.#times, this.#limit, now, this.#ms)
  }

  /** Counts a call at `now`, or throws a Refusal if there are too many; that is not counted. */
  admit(now: number): void {
    if (this.#limit === 0) return
    const { remaining, resetSeconds } = this.count(now)
    if (remaining === 0)
      throw new Refusal(
        'calls-exceeded',
        `expected at most ${this.#limit} calls in ${this.#ms / 1000} seconds. ` +
          `Wait ${resetSeconds} seconds and send it again`,
      )
    this.#times = [...filterRecentCalls(this.#times, now, this.#ms), now]
  }
}

/** Limits of an extended service beside that of writes. */
export class CallLimits {
  /** Calls of the account, whichever they are. */
  readonly account: CallWindow
  /** Queries of configurations, and of domains. */
  readonly config: CallWindow
  readonly domains: CallWindow
  /** URLs that may be prefetched in a day; null without a limit. */
  readonly prefetchesPerDay: number | null

  /** @param limited whether there is a call rate at all */
  constructor(limited: boolean) {
    this.account = new CallWindow(limited ? 24 : 0, 2000)
    this.config = new CallWindow(limited ? 30 : 0)
    this.domains = new CallWindow(limited ? 60 : 0)
    this.prefetchesPerDay = limited ? 10_000 : null
  }
}
