import type { Rollout } from '../../core/model/rollout.ts'
import type { ItemKeys } from '../../core/catalog/wire-names.ts'
import type { Domain, FieldName, ItemKey, Value, Part } from '../../core/model/item.ts'
import type { Place } from '../../core/model/problem.ts'
import type { Applied, Grounds } from '../../core/model/applied.ts'
import type { RecordedState, Store } from '../../state/store/store.ts'
import type { ApplyCounts, EndReason, OutcomeCounts, Outcome } from '../../core/model/outcome.ts'
import type { ApplyEvent, Interrupted, UntimedEvent, Refusal } from '../../core/model/events.ts'
import type { SourceTree } from '../../core/model/source-tree.ts'
import type { Sending } from './send-write.ts'
import type { EarlierCalls } from './earlier-calls.ts'
import type { Sharing } from './sharing.ts'
import type { Write } from '../../core/model/change.ts'
import { addUp, append } from '../../core/model/lists.ts'

/** Context of an apply. */
export interface ApplyContext extends Omit<Sending, 'onWait'> {
  store: Pick<
    Store,
    | 'share'
    | 'listApplies'
    | 'loadStateBefore'
    | 'loadLateCalls'
    | 'recordIntents'
    | 'recordOutcomes'
    | 'endApply'
    | 'markDoubtful'
  > &
    Partial<Pick<Store, 'chain'>>
  /** Id of this apply. */
  apply: string
  /** Names of items on the wire, where they differ. */
  itemKeys: ItemKeys
  /** Tree of the manifests. */
  tree: SourceTree
  /** Author of the apply; null if unknown. */
  author: string | null
  /** As in `Applied`. */
  workspace?: string
  /** What it rests on besides its commit, as in `Applied`. */
  grounds?: Grounds
  /** Whether calls end with their process: the service is the emulator inside of it. */
  endsWithProcess: boolean
  /** Instant of acquiring the lock: what others sent before it has ended, or is in-doubt. */
  lockedAt: Moment
  /** Returns the time since the boot of the machine with the time asleep, ms. */
  uptime(): number
  /** Splits items of a write into sets of which each is sent together (`grouping.together`). */
  bundleItems(items: ItemKey[]): ItemKey[][]
  /**
   * Domains that the service does not know. They are left out of all other writes; each is added
   * when it is found.
   */
  unknownDomains: Set<Domain>
  /** Returns the service's time, ms since 1970; null if it is unknown. */
  serviceNow(): number | null
  /** Finds where a manifest declares an item; null if none does. */
  findItemPlace(domain: Domain, item: ItemKey): Pick<Place, 'file' | 'line'> | null
  report(event: ApplyEvent): void
}

/** Instant by the clocks of this machine, ms. */
export interface Moment {
  /** Wall clock. */
  atMs: number
  /** Time since boot, perhaps without the time asleep. */
  upMs: number
  /** Time since boot with the time asleep. */
  uptimeMs: number
}

/** Result of an apply: its writes by outcome, and facts to report. */
export interface ApplyResult extends OutcomeCounts {
  /** Parts of the writes (domains × items) by outcome. */
  parts: OutcomeCounts
  /** True if any write may have been accepted: answers 401, 403 and 404 accept none. */
  sent: boolean
  /** Reason of an early end, or of unshared outcomes; null if the apply ran to its end. */
  stopped: string | null
  /** Present if an interrupt is that reason. */
  interrupted?: Interrupted
  /** Refused parts of writes, for messages at the lines of manifests. */
  refusals: Refusal[]
  /** True if a health check rolled back everything that was sent; absent without a rollback. */
  takenBack?: boolean
  /** Present if a rollout stays open: the next apply may send what this one has not. */
  open?: true
  /**
   * Present if a rollout stopped before a wave that needs approval, because it is paused, or, for a
   * caller that waits itself, at a pause or a health check.
   */
  waitsFor?: 'approval' | 'paused' | 'pausing'
  /** Whether the wait for an approval began now. */
  waitsAnew?: boolean
  /** The rollout as it was left; absent without waves. */
  rollout?: Rollout
  /** Writes that were confirmed in all waves; present once all have passed. */
  total?: number
  /** Time until it may be resumed, ms; present with `pausing`. */
  waitMs?: number
  /**
   * Present if another process ended the rollout, with all changes recorded as confirmed: number of
   * the writes that it sent.
   */
  elsewhere?: number
  /**
   * Reason why state, or what other machines see of it, lacks outcomes of this apply; null if
   * complete.
   */
  unrecorded: string | null
  /**
   * Writes that were not sent, although state has their items as in-doubt, since that could not be
   * recorded.
   */
  unsettled: Part[]
  /** True if that is only what other machines see: the outcomes are recorded on this machine. */
  unshared: boolean
  /** State after the apply. */
  recorded: RecordedState
}

/** Shared context of all writes of an apply. */
export interface Run extends ApplyContext, EarlierCalls {
  recorded: RecordedState
  /** Reports an event with the present time. */
  report(event: UntimedEvent): void
  /** Returns the planned value of a changed item; null if it is unset. */
  findTarget(domain: Domain, item: ItemKey): Value | null
  /** Lists `writtenFields` of the change of an item. */
  listWritten(domain: Domain, item: ItemKey): FieldName[] | undefined
  result: ApplyResult
  /** Outcomes so far: a begun write is in-doubt until its outcome is recorded. */
  counts: ApplyCounts
  /** Number of recorded batches of intents. */
  batches: number
  /** Writes whose intents are recorded. */
  begun: Set<number>
  /** Writes whose outcomes are recorded. */
  settled: Set<number>
  /** Writes of which a call may have been accepted. */
  called: Set<number>
  /** Records one change after another, so that each journal entry has the outcomes before it. */
  inOrder<T>(work: () => Promise<T>): Promise<T>
  /** Records outcomes durably, perhaps with others that arrive at the same time. */
  recordOutcomes(outcomes: OutcomeGroup): Promise<void>
  /** Stops the apply: no further write begins, and no write is retried. */
  stop(why: EndReason): void
  /**
   * Returns the time, ms since 1970: monotonic within an apply, even if the wall clock is set. It
   * counts the time asleep.
   */
  now(): number
  /** Returns the same time, ISO 8601. */
  time(): string
  /** Returns the journal entry of this apply with these counts. */
  toApplied(counts: ApplyCounts): Applied
  sharing: Sharing
}

/** Writes and parts that get another outcome. */
export interface Move {
  from: keyof OutcomeCounts
  to: keyof OutcomeCounts
  writes: number
  parts: number
}

/** Creates the counts of an apply that has not begun any of its writes. */
export function createCounts(writes: Write[]): ApplyCounts {
  return {
    writes: { ...createEmptyCounts(), notSent: writes.length },
    parts: { ...createEmptyCounts(), notSent: countParts(writes) },
  }
}

export function createEmptyCounts(): OutcomeCounts {
  return { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
}

/** Counts the items of all domains of writes. */
export function countParts(writes: Pick<Write, 'domains' | 'items'>[]): number {
  return addUp(writes, ({ domains, items }) => domains.length * Object.keys(items).length)
}

/**
 * Returns whether everything is confirmed: all writes, and the parts that were left out of
 * confirmed ones.
 */
export function isAllConfirmed(writes: OutcomeCounts, parts: OutcomeCounts): boolean {
  return writes.refused + writes.inDoubt + writes.notSent + parts.notSent === 0
}

/** Returns the move of whole writes. */
export function moveWrites(writes: Write[], from: Move['from'], to: Move['to']): Move {
  return { from, to, writes: writes.length, parts: countParts(writes) }
}

/** Returns the counts after moves. Their sums stay the same. */
export function moveCounts(counts: ApplyCounts, moves: Move[]): ApplyCounts {
  const [writes, parts] = [{ ...counts.writes }, { ...counts.parts }]
  for (const move of moves) {
    writes[move.from] -= move.writes
    writes[move.to] += move.writes
    parts[move.from] -= move.parts
    parts[move.to] += move.parts
  }
  return { writes, parts }
}

/** Returns the name of the count of an outcome. */
export function nameCount({ kind }: Exclude<Outcome, { kind: 'throttled' }>): Move['to'] {
  return kind === 'in-doubt' ? 'inDoubt' : kind === 'not sent' ? 'notSent' : kind
}

/** Writes of the plan that are completed, by id, and the change of the counts. */
export interface Settlement {
  writes: number[]
  moves: Move[]
}

/** Outcomes that are recorded together, with the state of their domains. */
export interface OutcomeGroup extends Settlement {
  domains: RecordedState
}

/**
 * Creates a recorder of outcomes. Outcomes that arrive while it is waiting for its turn are
 * recorded together; a failure reaches each of them.
 *
 * @param inOrder runs one recording after another
 */
export function createOutcomeRecorder(
  inOrder: <T>(work: () => Promise<T>) => Promise<T>,
  record: (group: OutcomeGroup) => Promise<void>,
): (outcomes: OutcomeGroup) => Promise<void> {
  let waiting: { group: OutcomeGroup; done: Promise<void> } | null = null
  return (outcomes) => {
    if (waiting !== null) {
      const { group, done } = waiting
      append(group.writes, outcomes.writes)
      append(group.moves, outcomes.moves)
      for (const [domain, items] of outcomes.domains) group.domains.set(domain, items)
      return done
    }
    const { writes, moves, domains } = outcomes
    const group = { writes: [...writes], moves: [...moves], domains: new Map(domains) }
    const done = inOrder(() => {
      waiting = null
      return record(group)
    })
    waiting = { group, done }
    return done
  }
}
