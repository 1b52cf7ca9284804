import type { CallLedger } from '../../core/model/call-ledger.ts'
import type { DomainMove } from '../../core/model/config.ts'
import type {
  DomainFile,
  PrunedFile,
  RestraintsFile,
} from '../../core/model/generated/state-types.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import type { TrafficProfile } from '../../core/model/traffic.ts'
import type { Chain } from './chain.ts'
import type { Call, MachineTimes } from '../format/calls.ts'
import type { HistoryNote } from '../format/chain-entry.ts'
import type { Applied } from '../../core/model/applied.ts'

/** Recorded state of one item of one domain, and its source; its schema describes the keys. */
export type RecordedItem = DomainFile['items'][string]

/** domain → item → recorded state. A snapshot, and its sources. */
export type RecordedState = Map<Domain, Map<ItemKey, RecordedItem>>

/** Identity of a state: the id of a workspace and the address of a service. */
export interface StateKey {
  id: string
  /** Address of the service with the values of the environment, or `emulator`. */
  address: string
  /** The address as written in edgewise.yaml, for messages and files; absent: the same. */
  writtenAddress?: string
}

/** The changes that one batch of writes of an apply is about to make. */
export interface Batch {
  /** From 1, over all batches of the apply. */
  number: number
  /** For every item that the batch may change, its recorded state; null if unrecorded. */
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>
  /** By write: its items, and those that it clears, in-doubt between old and new. */
  intents: ReadonlyMap<number, RecordedState>
  /** Timeout plus settle time of its calls, ms; 0 if not recorded. */
  landWithinMs: number
}

/** Calls without an outcome of an apply that died: they may still take effect. */
export interface LateCalls {
  /** Recorded state of the items before that apply; null if unrecorded. */
  before: Batch['before']
  /** Timeout plus settle time of that apply, ms; 0 if not recorded. */
  landWithinMs: number
  /** Items of these calls, in-doubt between old and new, without outcomes of later applies. */
  open: RecordedState
}

/** Change of an item that an apply intended. */
export interface IntendedItem {
  /** Its recorded state at that time; null if unrecorded. */
  before: RecordedItem | null
  /** Its possible state until the outcome was recorded; null if it was released. */
  intended: RecordedItem | null
}

/** All changes that an apply intended. */
export type IntendedChanges = ReadonlyMap<Domain, ReadonlyMap<ItemKey, IntendedItem>>

/** The changes of one domain that an apply intended. */
export interface DomainApply {
  apply: Applied
  items: ReadonlyMap<ItemKey, IntendedItem>
}

/** Applies whose journal entries and batches were pruned. */
export type PrunedApplies = Omit<PrunedFile, 'format'>

/** Renamed domains: those whose state is still at the old name, or at both names. */
export interface Moves {
  pending: DomainMove[]
  conflicting: DomainMove[]
}

/** All that the journal has of one domain. */
export interface DomainHistory {
  /** By the time at which they started, first to last. */
  applies: DomainApply[]
  /** Its state now. */
  recorded: ReadonlyMap<ItemKey, RecordedItem>
  /** Number of pruned applies: their intents are not stored, they may have written the domain. */
  pruned: number
}

/** Reads the recorded state of a workspace. */
export interface StateReader {
  /** Location of the state, for messages. */
  readonly location: string
  /**
   * Loads the recorded state; empty if nothing was recorded yet. Items that an apply intended to
   * change and did not settle are in-doubt.
   */
  load(): Promise<RecordedState>
  /**
   * Sets the domains that were renamed. From the next load on the state of an old name is that of
   * the new one, if only the old one has state; `saveMoves` records that.
   */
  useMoves(moves: DomainMove[]): void
  /** Lists those of these moves that are not recorded yet, as of the last load. */
  listMoves(): Moves
  /** Lists the domains with state, or in an unfinished apply or a rollout. Needs no load. */
  listDomains(): Promise<Domain[]>
  /**
   * Finds the domains that can only be changed together with some others, and those: an unfinished
   * apply, a doubt mark and a rollout end for all of their domains at once. Needs no load.
   */
  findEntangled(domains: Iterable<Domain>): Promise<Set<Domain>>
  /**
   * Lists the applies whose process died before they ended, as of the last load. Their in-doubt
   * writes are those without an outcome.
   */
  listUnfinished(): Applied[]
  /** Lists other addresses for which the same id has state. */
  listOtherAddresses(): Promise<string[]>
  /**
   * Explains in a clause why there may be no state, as of the last load; null if the store has
   * some. Absent for stores that can't lack any by mistake.
   */
  explainMissing?(): Promise<string | null>
  /**
   * Finds which of these domains belong to another id at the same address, with that id. Only one
   * id has state of a domain, or an unfinished apply that may write it: `recordIntents` and `save`
   * throw EdgewiseError `owned-elsewhere` otherwise.
   */
  findOwners(domains: Iterable<Domain>): Promise<Map<Domain, string>>
  /** Returns whether another id has, or had, state at the same address. */
  knowsWorkspace(id: string): Promise<boolean>
  /** Hashes the recorded rollouts; null where that takes as long as to list them. */
  hashRollouts(): Promise<string | null>
}

/** Reads what applies intended and did. None of it needs a load. */
export interface HistoryReader {
  /** Lists the applies, first to last; with ids only those of them that are there. */
  listApplies(ids?: string[]): Promise<Applied[]>
  /** Lists the applies whose journal entries and batches were pruned. */
  listPruned(): Promise<PrunedApplies>
  /**
   * Loads, for every item that an apply intended to change, its state beforehand; null if
   * unrecorded.
   */
  loadStateBefore(apply: string): Promise<Batch['before']>
  /** Loads what each apply intended for one domain; needs no load before. */
  loadDomainHistory(domain: Domain): Promise<DomainHistory>
  /** Loads what some applies intended for all of their domains, by id; needs no load before. */
  loadIntended(applies: string[]): Promise<Map<string, IntendedChanges>>
  /** Loads the facts that limit the late effects of an apply that died. */
  loadLateCalls(apply: string): Promise<LateCalls>
}

/** Records an apply: before, during and after its writes. */
export interface Recorder {
  /**
   * Records the intents of a batch. They are durable, for other machines too, when the promise
   * resolves. The changes of one apply are recorded one after another.
   */
  recordIntents(apply: Applied, batch: Batch): Promise<void>
  /**
   * Records outcomes of writes (or of releases, without any write) as the new state of the domains.
   * Durable on this machine when the promise resolves.
   */
  recordOutcomes(apply: Applied, writes: number[], domains: RecordedState): Promise<void>
  /** Records the end of an apply: intents that were not written are forgotten. */
  endApply(apply: Applied): Promise<void>
  /**
   * Marks those of the writes of an apply whose outcome is not recorded for other machines as
   * in-doubt, without the lock: they may have taken effect after writes of another process. Nothing
   * else can be recorded afterwards until the state is loaded again.
   *
   * @param cleared items that these writes clear, recorded before or not
   */
  markDoubtful(apply: string, writes: number[], cleared: ItemKey[]): Promise<void>
  /** Makes everything recorded so far durable for other machines; null if it always is. */
  readonly share: (() => Promise<void>) | null
  /**
   * Moves what is recorded in a log to its files, before the lock is released: if it fails, the
   * next command with the lock does it. Absent for stores without a log.
   */
  checkpoint?(): Promise<void>
  /**
   * Shares outcomes that earlier processes could record only on this machine. Needs the lock, and a
   * load before.
   *
   * @returns names of applies with such outcomes that can't be kept, of other workspaces of the
   *   store too: another process has written since, and the items without a shared outcome are
   *   in-doubt
   */
  shareEarlier(): Promise<string[]>
  /**
   * Names the applies with outcomes that only this machine has, of other workspaces of the store
   * too.
   */
  listUnshared(): Promise<string[]>
}

/** Changes the state apart from applies. */
export interface StateWriter {
  /**
   * Limits changes to domains whose lock this process has; null for all. Unfinished applies and
   * rollouts with other domains are those of other processes then: they are not listed, and stay
   * as they are.
   */
  lockOnly(domains: ReadonlySet<Domain> | null): void
  /**
   * Records the pending moves, for other machines too.
   *
   * @param at time, ISO 8601: the journal entries of applies before it have the old names
   */
  saveMoves(at: string, why: string): Promise<void>
  /**
   * Replaces the recorded state of these domains, for other machines too; a domain without items is
   * removed.
   */
  save(domains: RecordedState, why: string): Promise<void>
  /**
   * Moves the state of these domains to another id at the same address. An interrupted move leaves
   * it complete at the old or at both ids, and can be repeated.
   *
   * @throws EdgewiseError `owned-elsewhere` if the other id has other state of a domain, or an
   *   unfinished apply that may write it
   */
  move(domains: RecordedState, to: string, why: string): Promise<void>
  /**
   * Prunes applies that have ended, for other machines too: `listPruned` lists them from then on,
   * and the state before them is gone.
   *
   * @param note its entry in the chained history
   */
  prune(applies: Applied[], why: string, note: HistoryNote): Promise<void>
}

/** Keeps the rollouts of a workspace. */
export interface RolloutStore {
  /** Lists the rollouts that are open or put domains on hold, first to last. Needs no load. */
  listRollouts(): Promise<Rollout[]>
  /**
   * Lists the latest rollouts that have ended, first to last, without hashes, values and most names
   * of domains. Needs no load.
   */
  listEnded(): Promise<Rollout[]>
  /**
   * Records the progress of a rollout, for other machines too. One that has ended with nothing on
   * hold, and nothing worse that stays, is only listed as ended.
   */
  saveRollout(rollout: Rollout, why: string): Promise<void>
}

/** Keeps the chained history of a workspace. */
export interface ChainStore {
  readonly chain: Chain
}

/** Keeps the salt of the fingerprints of secrets. */
export interface SaltStore {
  /** Loads the salt of the fingerprints of secrets; null if there is none yet. */
  loadSalt(): Promise<string | null>
  /**
   * Stores a new salt with the next change that is for other machines too. That change throws
   * EdgewiseError `record-moved` if another process has stored one meanwhile.
   */
  keepSalt(salt: string): void
}

/** Keeps how much traffic domains have. */
export interface TrafficStore {
  /**
   * Loads the newest figures; needs no load before.
   *
   * @param asOf loads those that were the newest at this moment, ms since 1970; of each domain only
   *   the last two figures are kept
   */
  loadTraffic(asOf?: number): Promise<TrafficProfile>
  /**
   * Adds figures, for other machines too, without the lock: the newest of each domain wins. Nothing
   * else can be recorded afterwards until the state is loaded again.
   */
  recordTraffic(profile: TrafficProfile): Promise<void>
}

/** What restrained the last applies; its schema describes the keys. */
export type RecordedRestraints = Omit<RestraintsFile, 'format'>

/** Keeps what restrained the last applies. */
export interface RestraintStore {
  /** Loads it; null as long as nothing restrained any. */
  loadRestraints(): Promise<RecordedRestraints | null>
  /** Replaces it, for other machines too. */
  saveRestraints(restraints: RecordedRestraints): Promise<void>
}

/** Keeps the calls that count against the call budget of the account. */
export interface CallStore {
  /** Loads the calls that count against the call budget of the account. */
  loadCalls(): Promise<KnownCalls>
  saveCalls(apply: string, calls: Call[]): Promise<void>
  /**
   * Opens the calls of all processes with the same account; absent or null if they are not shared.
   *
   * @param apply id of the apply of this process
   * @param previous id of the last apply of the store, whose calls this process takes over
   * @param here reads the clocks of this machine
   */
  openCallLedger?(apply: string, previous: string, here: () => MachineTimes): CallLedger | null
}

/**
 * Recorded state of a workspace at one address. Another address has another state: confirmations of
 * one service never count for another. Callers that change it must hold the lock of the account and
 * have loaded it before. A damaged file throws EdgewiseError `record-damaged`, and nothing is
 * written then.
 */
export interface Store
  extends
    StateReader,
    HistoryReader,
    Recorder,
    StateWriter,
    RolloutStore,
    ChainStore,
    SaltStore,
    TrafficStore,
    RestraintStore,
    CallStore {}

/** Calls of earlier processes. */
export interface KnownCalls {
  calls: Call[]
  /** Id of the apply that saved them on this machine; absent or empty if none did. */
  apply?: string
  /** Whether an apply died whose last calls are known only to another machine. */
  incomplete: boolean
}
