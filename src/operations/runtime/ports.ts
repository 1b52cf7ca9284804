import type { Effects } from '../../core/effects/group.ts'
import type { Applied } from '../../core/model/applied.ts'
import type { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Domain, Part } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { Verified } from '../../core/model/drift.ts'
import type { LockHolder } from '../../state/format/lock-file.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { Compared } from '../submission/compare-secrets.ts'
import type { FoundDrift } from '../observation/find-drift.ts'
import type { Witnesses } from '../../outlets/report/effects/witnesses.ts'
import type { Outside } from './parts.ts'
import type { Rollback } from '../history/plan-rollback.ts'

/** Ports of every operation: the outside world and a dialogue. */
export interface Ports {
  outside: Outside
  dialogue: Dialogue
  /** Get each event of an apply before the dialogue does; absent: there are none. */
  listeners?: readonly EventListener[]
}

/** Gets an event; `callsLeft`: calls that the budget allows at once, null if none is sent. */
export type EventListener = (event: ApplyEvent, callsLeft: number | null) => void

/**
 * Dialogue with a terminal, a log, or a program that uses the library. Decisions are made in
 * `operations/`, never here.
 */
export interface Dialogue {
  /** Reports a note about the operation. */
  note(text: string): void
  /** Reports a warning to read before relying on the result. */
  warn(text: string): void
  /** Shows a result or a plan; a question about it may follow. A promise is waited for. */
  show(subject: Subject): unknown
  /**
   * Asks for consent; false if it is declined.
   *
   * @throws EdgewiseError `declined` when the dialogue can't prompt
   */
  confirm(question: Question): Promise<boolean>
  /** Starts the progress report of an apply. */
  startProgress(extent: Extent): Promise<Progress>
}

/** Subject of `show`. */
export type Subject =
  | { kind: 'plan'; plan: Plan }
  /** The plan shown before, now that its conditional changes are decided: what is sent. */
  | ({ kind: 'compared' } & Compared)
  /** Selected state loaded under the lock, and the unfinished applies. */
  | { kind: 'state'; recorded: RecordedState; cutOff: Applied[] }
  | { kind: 'rollback'; rollback: Rollback }
  /** `at`: time of the observation, ms since 1970. */
  | { kind: 'drift'; found: FoundDrift & { effects?: Effects | null }; at: number }
  /** What changes do to sample requests. */
  | { kind: 'effects'; effects: Effects }
  | { kind: 'witnesses'; witnesses: Witnesses }
  /** `domains`: those of the lock, if there are several locks; null if it covers all. */
  | { kind: 'lock'; holder: LockHolder; domains: Domain[] | null }
  | { kind: 'verified'; verified: Verified }
  /** Applies to prune, first to last. */
  | { kind: 'prune'; applies: Applied[] }

/** Question of `confirm`. */
export type Question =
  /** Changes back to older values; consent in general does not cover it. `refusal`: the error. */
  | { kind: 'older'; text: string; refusal: EdgewiseError }
  | { kind: 'apply'; plan: Plan }
  /** Numbers of domains and items. */
  | { kind: 'accept'; domains: number; items: number }
  /** Header rules of so many domains have no order: the service never shows it. */
  | { kind: 'number'; rules: number; domains: number }
  /** `what`: description of the items. */
  | { kind: 'forget'; what: string; items: number }
  /** `what`: the domains; `to`: id of the other workspace. */
  | { kind: 'move'; what: string; items: number; to: string }
  /** `domains`: their number; `to`: location of the new store. */
  | { kind: 'migrate'; domains: number; to: string }
  /** `applies`: their number. */
  | { kind: 'prune'; applies: number }
  /** `files`: the number of files to change. */
  | { kind: 'fix'; files: number }
  | { kind: 'unlock'; holder: LockHolder }
  /** Consent to a plan does not answer it: who can't ask throws `createReleaseRefusal`. */
  | ForeignRelease

/** Items that a workspace would release although it may not be the one that applied it. */
export interface ForeignRelease {
  kind: 'release'
  /** Numbers of the items to release, and of their domains. */
  items: number
  domains: number
  /** Why this may be another workspace. */
  reason: string
}

/** Size of an apply. */
export interface Extent {
  writes: number
  /** Domains and items of each write, by its number. */
  parts: ReadonlyMap<number, Part>
  callsPerMinute: number
  inWaves: boolean
}

export interface Progress {
  /** @param callsLeft calls that the budget allows at once; null if nothing is sent */
  report(event: ApplyEvent, callsLeft: number | null): void
  end(): void
}
