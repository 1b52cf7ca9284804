import type { ApplyResult } from '../apply/run.ts'
import type { HealthConfig } from '../../core/model/config.ts'
import type { UntimedEvent } from '../../core/model/events.ts'
import type { DomainCounts, Window } from '../../core/model/health.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import type { TimeZone } from '../../core/model/time/time-zone.ts'
import type { Point } from '../../core/model/statistics.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type {
  ChainStore,
  RecordedState,
  RolloutStore,
  StateReader,
} from '../../state/store/store.ts'

/** Context of a rollout: ports (clocks, service, applying), the store and the settings. */
export interface RolloutContext {
  clock: Clock
  time: ServiceClock
  service: StatusCounts
  applying: Applying
  store: Pick<StateReader, 'load'> & RolloutStore & Partial<ChainStore>
  settings: RolloutSettings
  /** Whether the rollout ends where it has to wait for some time: its caller resumes it then. */
  suspends: boolean
  /** Whether it stays open once all waves have passed, for looks back until `health.after`. */
  looksBack: boolean
  /** Aborted on an interrupt. */
  signal: AbortSignal
  report(event: UntimedEvent): void
}

/** The service's clock. Health checks use it, since the machine's clock may be wrong. */
export interface ServiceClock {
  /** Returns the service's time, ms since 1970; null while it is unknown. */
  now(): number | null
  /** Returns the service's time, with a call if it is unknown; null if that has none either. */
  ask(): Promise<number | null>
}

/** The service's statistics. */
export interface StatusCounts {
  /**
   * Queries the requests in a window by domain and status code.
   *
   * @param use gets the points of a domain as they arrive; all of them if the query succeeds
   * @throws EdgewiseError `service-failed` when there is no answer, and other errors of a query
   */
  count(domains: Domain[], window: Window, use?: (points: Point[]) => void): Promise<DomainCounts>
  /**
   * Queries the requests in a window by domain, period and status code; throws as `count`.
   *
   * @param use gets points of a domain as they arrive: those of a large fleet are never kept
   */
  list(
    domains: Domain[],
    window: Window,
    use: (domain: Domain, points: Point[]) => void,
  ): Promise<void>
}

/** Executes parts of a plan, each as its own apply, under the lock. */
export interface Applying {
  /**
   * Resolves the secrets of a part of the plan.
   *
   * @throws EdgewiseError `guarded` or `stopped` when the part may not begin now, `access` or
   * `invalid` when a secret can't be resolved
   */
  prepare(part: Plan, recorded: RecordedState): Promise<Plan>
  /**
   * @param part as `prepare` returned it
   * @param isLast whether it completes what the plan asks for
   */
  execute(part: Plan, id: string, recorded: RecordedState, isLast: boolean): Promise<ApplyResult>
  /** Returns whether all writes of the account were stopped at the last look before a call. */
  isAccountStopped(): boolean
  /** Rolls back all changes of a rollout; returns the reason if nothing can be rolled back. */
  rollBack(
    rollout: Rollout,
    recorded: RecordedState,
    report: (writes: number) => void,
  ): Promise<RolledBack | string>
  /** Does some work without the lock. After an interrupt, the lock is not acquired again. */
  whileUnlocked<T>(work: () => Promise<T>): Promise<T>
}

/** Result of a rollback, and a description of the irreversible items; null if there are none. */
export interface RolledBack {
  result: ApplyResult
  irreversible: string | null
}

/** Rollout settings of the workspace. */
export interface RolloutSettings {
  pauseMs: number
  /** Null without health checks. */
  rule: HealthConfig | null
  /** Time zone of the service's periods. */
  zone: TimeZone
}

/** Context for watching a wave. */
export type Watching = Pick<
  RolloutContext,
  'clock' | 'time' | 'service' | 'store' | 'settings' | 'suspends' | 'signal' | 'report'
>

/** Verdict on a watched wave; null after an interrupt. */
export type Watched = { passed: true } | Failed | null

/** A wave that is worse, or can't be judged. */
export interface Failed {
  passed: false
  worse: boolean
  reason: string
  waveIndex: number
}
