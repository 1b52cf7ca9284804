import type { Applied } from '../model/applied.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { Plan } from '../model/plan.ts'
import type { LockHolder } from '../state/lock.ts'
import type { RecordedState } from '../state/store.ts'
import type { FoundDrift } from './find-drift.ts'
import type { Outside } from './outside.ts'
import type { Rollback } from './plan-rollback.ts'

/** What every operation works with: the world outside, and somebody to show and ask. */
export interface Ports {
  outside: Outside
  dialogue: Dialogue
}

/**
 * Whoever an operation shows, asks and reports to: a terminal, a log, a program that uses the
 * library. Nothing here decides; what an operation may do is decided in `operations/`.
 */
export interface Dialogue {
  /** A sentence about what is going on. */
  note(text: string): void
  /** A sentence to read before relying on the result. */
  warn(text: string): void
  /** Shows what was found or planned. A question about it may follow. */
  show(subject: Subject): void
  /**
   * Asks for consent. False when the answer is no.
   *
   * @throws EdgewiseError `declined` when nobody can answer
   */
  confirm(question: Question): Promise<boolean>
  /**
   * Follows a long search for fewer writes: the steps made, and the most there may be. Each part of
   * it begins from 0.
   */
  planning(made: number, all: number): void
  /** Follows an apply from its first event to its end. */
  startProgress(extent: Extent): Promise<Progress>
}

/** What is shown. */
export type Subject =
  | { kind: 'plan'; plan: Plan }
  /** What was loaded under the lock, and the applies that were cut off. */
  | { kind: 'state'; recorded: RecordedState; cutOff: Applied[] }
  | { kind: 'rollback'; rollback: Rollback }
  /** `at`: when it was looked at, ms since 1970. */
  | { kind: 'drift'; found: FoundDrift; at: number }
  | { kind: 'lock'; holder: LockHolder }

/** What is asked. */
export type Question =
  | { kind: 'apply'; plan: Plan }
  /** `what` in words. */
  | { kind: 'forget'; what: string; items: number }
  /** `noticed`: when a holder that still runs notices that its lock is gone. */
  | { kind: 'unlock'; holder: LockHolder; noticed: 'before its next write' | 'at its next beat' }

/** How much an apply is going to do. */
export interface Extent {
  writes: number
  callsPerMinute: number
  inWaves: boolean
}

export interface Progress {
  /** @param callsLeft writes that the call budget allows at once; null where nothing is sent */
  report(event: ApplyEvent, callsLeft: number | null): void
  end(): void
}
