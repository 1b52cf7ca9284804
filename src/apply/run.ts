import type { Domain, ItemKey, Value } from '../model/item.ts'
import type { Applied } from '../model/applied.ts'
import type { RecordedState, Store } from '../state/store.ts'
import type { OutcomeCounts } from '../model/outcome.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { Sending } from './send-write.ts'
import type { Sharing } from './sharing.ts'

/** What an apply works with. */
export interface ApplyContext extends Omit<Sending, 'waiting'> {
  store: Store
  /** Id of this apply. */
  apply: string
  /** The commit of the workspace, and who started this; null where that is not known. */
  commit: string | null
  author: string | null
  /** When the lock was taken: no other process sends anything since. */
  lockedAt: Moment
  /**
   * Take a write that was refused apart, so that all but the guilty part is applied; else the first
   * refusal ends the apply.
   */
  isolate: boolean
  tell(event: ApplyEvent): void
}

/** A moment by both clocks of this machine: wall clock, and since boot; ms. */
export interface Moment {
  at: number
  up: number
}

/** A part of a write that the service refused. */
export interface Refusal {
  domains: Domain[]
  items: ItemKey[]
  message: string
}

/** What came of an apply: its writes by outcome, and what a user has to be told. */
export interface ApplyResult extends OutcomeCounts {
  /** Whether any write left this machine. */
  sent: boolean
  /** Why the apply ended early; null when it came to its end. */
  stopped: string | null
  /** What the service refused, for messages at the manifests' lines. */
  refusals: Refusal[]
  /** Whether a health check has taken back all that was sent; absent where it took back nothing. */
  takenBack?: boolean
  /**
   * Why the record, or what other machines see of it, lacks something of this apply; null when it
   * does not.
   */
  unrecorded: string | null
  /** What is recorded once the apply is over. */
  recorded: RecordedState
}

/** What all writes of an apply share. */
export interface Run extends ApplyContext {
  recorded: RecordedState
  /** What each changed item should come to; null where it is unset. */
  findTarget(domain: Domain, item: ItemKey): Value | null
  result: ApplyResult
  /** Ends the apply: no write is begun any more, and none is sent again. */
  stop(why: string): void
  /**
   * The time now, ms since 1970. Within an apply it goes on evenly, whatever is done to the wall
   * clock.
   */
  now(): number
  /** The same, ISO 8601. */
  time(): string
  /** This apply for the journal, as far as it has come. */
  toApplied(): Applied
  sharing: Sharing
}
