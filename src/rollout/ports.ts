import type { ApplyResult } from '../apply/run.ts'
import type { HealthConfig } from '../model/config.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { DomainCounts, Window } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { Rollout } from '../model/rollout.ts'
import type { TimeZone } from '../model/time-zone.ts'
import type { Clock } from '../model/clock.ts'
import type { RecordedState, Store } from '../state/store.ts'

/**
 * What a rollout works with: three ports (clock, service, applying), the state, and what the
 * workspace says.
 */
export interface RolloutContext {
  clock: Clock
  service: StatusCounts
  applying: Applying
  store: Pick<Store, 'load' | 'listRollouts' | 'saveRollout' | 'deleteRollouts'>
  settings: RolloutSettings
  /** Aborted when the user interrupts. */
  signal: AbortSignal
  report(event: ApplyEvent): void
}

/** The service's statistics. */
export interface StatusCounts {
  /**
   * Requests by domain and status code in a window.
   *
   * @throws EdgewiseError `service-failed` when there is no answer, and what else a query throws
   */
  count(domains: Domain[], window: Window): Promise<DomainCounts>
}

/** Executes parts of a plan, each as an apply of its own, while the lock is held. */
export interface Applying {
  /**
   * Makes a part of the plan ready to send, with the values of its secrets.
   *
   * @throws EdgewiseError `guarded` when it may not begin at this time, `access` or `invalid` when
   * a secret can't be had
   */
  prepare(part: Plan, recorded: RecordedState): Promise<Plan>
  /** @param part as `prepare` returned it */
  execute(part: Plan, id: string, recorded: RecordedState): Promise<ApplyResult>
  /** Rolls back all that a rollout changed. The reason when nothing of it can be. */
  rollBack(
    rollout: Rollout,
    recorded: RecordedState,
    report: (writes: number) => void,
  ): Promise<RolledBack | string>
  /**
   * Does something while others may have the lock. After an interruption the lock is not taken
   * again.
   */
  whileUnlocked<T>(work: () => Promise<T>): Promise<T>
}

/** What came of rolling back, and in words what of it can't be; null where all can. */
export interface RolledBack {
  result: ApplyResult
  irreversible: string | null
}

/** What the workspace says of rollouts. */
export interface RolloutSettings {
  pauseMs: number
  /** Null where health is not checked. */
  rule: HealthConfig | null
  /** In which the service aligns its periods. */
  zone: TimeZone
}
