import type { Domain, Held, ItemKey } from '../model/item.ts'

/** What is recorded of one item of one domain: what it holds, and how that is known. */
export interface RecordedItem extends Held {
  /** When its last outcome, intent or import was recorded, ISO 8601. */
  at: string
  /** Id of the apply (or import) that recorded it. */
  apply: string
  origin: 'write' | 'import'
  /** A write of it is under way; it is given up at this time at the latest, ISO 8601. */
  until?: string
}

/** domain → item → what is recorded. A snapshot, and where it comes from. */
export type Recorded = Map<Domain, Map<ItemKey, RecordedItem>>

/** Which record: that of a workspace's id at a service's address. */
export interface RecordKey {
  id: string
  /** Address of the service, or `emulator`. */
  address: string
}

/**
 * Where a record is kept. Another address is another record: what one service confirmed is never taken for another's.
 * Loading a damaged record throws EdgewiseError `record-damaged` and nothing is written.
 */
export interface Store {
  /** Where the record is, for messages. */
  readonly location: string
  /** Everything recorded; empty where nothing was recorded yet. */
  load(): Recorded
  /** Durably replaces what is recorded of these domains; a domain without items leaves the record. */
  save(domains: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>): void
  /** Addresses for which the same id has another record. */
  otherAddresses(): string[]
  /** Times (wall clock, ms) of the calls that count against the account's budget. */
  loadCalls(): number[]
  saveCalls(times: number[]): void
}
