import type { Domain, ItemState, ItemKey } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import type { Call } from './format/calls.ts'
import type { Register } from './register.ts'
import type { Applied } from '../model/applied.ts'

/** Recorded state of one item of one domain, and its source. */
export interface RecordedItem extends ItemState {
  /** Time at which its last outcome, intent or import was recorded, ISO 8601. */
  at: string
  /** Id of the apply or import that recorded it. */
  apply: string
  origin: 'write' | 'import'
  /**
   * In-doubt because only the intent of a write is recorded: the time of its last call is unknown.
   */
  open?: true
}

/** domain → item → recorded state. A snapshot, and its sources. */
export type RecordedState = Map<Domain, Map<ItemKey, RecordedItem>>

/** Identity of a state: the id of a workspace and the address of a service. */
export interface StateKey {
  id: string
  /** Address of the service, or `emulator`. */
  address: string
}

/** The changes that one wave of an apply is about to write. */
export interface Wave {
  /** From 1. */
  number: number
  /** For every item that the wave may change, its recorded state; null if unrecorded. */
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>
  /** By write: its items, and those that it clears, in-doubt between old and new. */
  intents: ReadonlyMap<number, RecordedState>
}

/**
 * Recorded state of a workspace at one address. Another address has another state: confirmations of
 * one service never count for another. Callers that change it must hold the lock of the account and
 * have loaded it before. A damaged file throws EdgewiseError `record-damaged`, and nothing is
 * written then.
 */
export interface Store {
  /** Location of the state, for messages. */
  readonly location: string
  /**
   * Loads the recorded state; empty if nothing was recorded yet. Items that an apply intended to
   * change and did not settle are in-doubt.
   */
  load(): Promise<RecordedState>
  /**
   * Lists the applies whose process died before they ended, as of the last load. Their in-doubt
   * writes are those without an outcome.
   */
  listUnfinished(): Applied[]
  /** Lists other addresses for which the same id has state. */
  listOtherAddresses(): Promise<string[]>
  /** Lists the applies, first to last. */
  listApplies(): Promise<Applied[]>
  /**
   * Loads, for every item that an apply intended to change, its state beforehand; null if
   * unrecorded.
   */
  loadStateBefore(apply: string): Promise<Wave['before']>
  /**
   * Records the intents of a wave. They are durable, for other machines too, when the promise
   * resolves.
   */
  recordIntents(apply: Applied, wave: Wave): Promise<void>
  /**
   * Records outcomes of writes (or of releases, without any write) as the new state of the domains.
   * Durable on this machine when the promise resolves.
   */
  recordOutcomes(apply: Applied, writes: number[], domains: RecordedState): Promise<void>
  /** Records the end of an apply: intents that were not written are forgotten. */
  endApply(apply: Applied): Promise<void>
  /**
   * Replaces the recorded state of these domains, for other machines too; a domain without items is
   * removed.
   */
  save(domains: RecordedState, why: string): Promise<void>
  /** Lists the rollouts that are open or put domains on hold, first to last. */
  listRollouts(): Promise<Rollout[]>
  /** Records the progress of a rollout, for other machines too. */
  saveRollout(rollout: Rollout, why: string): Promise<void>
  /** Deletes rollouts that are complete or superseded. */
  deleteRollouts(ids: string[], why: string): Promise<void>
  /** Makes everything recorded so far durable for other machines; null if it always is. */
  readonly share: (() => Promise<void>) | null
  /** Loads the calls that count against the call budget of the account. */
  loadCalls(): Promise<KnownCalls>
  saveCalls(apply: string, calls: Call[]): Promise<void>
  /**
   * Has the calls of processes with other stores and the same account; absent or null if it is not
   * shared.
   */
  readonly callRegister?: Register | null
}

/** Calls of earlier processes. */
export interface KnownCalls {
  calls: Call[]
  /** Id of the apply that saved them on this machine; absent or empty if none did. */
  apply?: string
  /** Whether an apply died whose last calls are known only to another machine. */
  incomplete: boolean
}
