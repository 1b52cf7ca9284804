import type { Domain, ItemState, ItemKey } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import type { Call } from './format/calls.ts'
import type { Applied } from '../model/applied.ts'

/** What is recorded of one item of one domain: what it holds, and how that is known. */
export interface RecordedItem extends ItemState {
  /** When its last outcome, intent or import was recorded, ISO 8601. */
  at: string
  /** Id of the apply (or import) that recorded it. */
  apply: string
  origin: 'write' | 'import'
  /**
   * In doubt since only the intent of a write is recorded: when that was under way last is not
   * known.
   */
  open?: true
}

/** domain → item → what is recorded. A snapshot, and where it comes from. */
export type RecordedState = Map<Domain, Map<ItemKey, RecordedItem>>

/** Which record: that of a workspace's id at a service's address. */
export interface StateKey {
  id: string
  /** Address of the service, or `emulator`. */
  address: string
}

/** What is about to be written in one wave of an apply. */
export interface Wave {
  /** From 1. */
  number: number
  /** Of everything that the wave may change: what is recorded now; null for nothing. */
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>
  /** By write: its items, and those that it empties, in doubt between old and new. */
  intents: ReadonlyMap<number, RecordedState>
}

/**
 * A record. Another address is another record: what one service confirmed is never taken for
 * another's. Whoever changes it holds the account's lock and has loaded it before. A damaged record
 * throws EdgewiseError `record-damaged`, and nothing is written then.
 */
export interface Store {
  /** Where the record is, for messages. */
  readonly location: string
  /**
   * Everything recorded by now; empty where nothing was recorded yet. What an apply intended and
   * did not settle is in doubt.
   */
  load(): Promise<RecordedState>
  /**
   * Applies whose process was gone before they ended, as of the last load. Their writes in doubt
   * are those without an outcome.
   */
  listUnfinished(): Applied[]
  /** Addresses for which the same id has another record. */
  listOtherAddresses(): Promise<string[]>
  /** The applies, first to last. */
  listApplies(): Promise<Applied[]>
  /** What was recorded, before an apply, of all that it was about to change; null for nothing. */
  loadStateBefore(apply: string): Promise<Wave['before']>
  /**
   * Records what a wave is about to write. When it resolves that is durable, for other machines as
   * well.
   */
  recordIntents(apply: Applied, wave: Wave): Promise<void>
  /**
   * Records what came of writes (or of releases, without any): what the domains hold now. Durable
   * on this machine when it resolves.
   */
  recordOutcomes(apply: Applied, writes: number[], domains: RecordedState): Promise<void>
  /** Records that an apply is over: what it intended and did not write is forgotten. */
  endApply(apply: Applied): Promise<void>
  /**
   * Replaces what is recorded of these domains, for other machines as well; a domain without items
   * leaves the record.
   */
  save(domains: RecordedState, why: string): Promise<void>
  /** The rollouts that are open, or hold something; first to last. */
  listRollouts(): Promise<Rollout[]>
  /** Records how far a rollout is, for other machines as well. */
  saveRollout(rollout: Rollout, why: string): Promise<void>
  /** Forgets rollouts: they are complete, or others take their place. */
  deleteRollouts(ids: string[], why: string): Promise<void>
  /**
   * Makes everything recorded so far durable for other machines; null where that is never behind.
   */
  readonly share: (() => Promise<void>) | null
  /** The calls that count against the account's budget. */
  loadCalls(): Promise<KnownCalls>
  saveCalls(apply: string, calls: Call[]): Promise<void>
}

/** Calls of earlier processes. */
export interface KnownCalls {
  calls: Call[]
  /** An apply was cut off whose last calls are known elsewhere only. */
  incomplete: boolean
}
