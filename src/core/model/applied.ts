import type { ChainFile, JournalFile } from './generated/state-types.ts'
import { describeIdentity, type Actor } from './people/identity.ts'
import type { Refusal } from './events.ts'
import { describeEnding, type Rollout } from './rollout.ts'
import { describeTree, type SourceTree } from './source-tree.ts'
import type { Domain, ItemKey, ItemState, Value } from './item.ts'
import { groupBy } from './lists.ts'
import { formatDuration } from './page/page-words.ts'
import { listSome } from './text/words.ts'

/**
 * One apply, as the journal has it; its schema describes the keys. It is `unfinished` until its end
 * is recorded; the next change of the state makes it `interrupted` if its process ended before.
 */
export type Applied = Omit<JournalFile, 'format' | 'settled' | 'settledBatches'>

/** What an apply rests on, besides its commit. */
export type Grounds = Pick<Applied, 'by' | 'overrides' | 'exceptions' | 'whole' | 'plan' | 'reason'>

/** What a person has overridden, and why. */
export type Override = NonNullable<Applied['overrides']>[number]

/** Names of overrides that are not policies; no policy may have them. */
const otherOverrides = new Map([
  ['freeze', 'freeze'],
  ['retry-held', 'hold'],
  ['--force', 'guard'],
  ['differs', 'difference at the service'],
])

/** Names what was overridden, for people. */
export function nameOverride({ policy }: Override): string {
  return otherOverrides.get(policy) ?? `policy ${policy}`
}

/**
 * An apply in a history.
 *
 * - `pruned`: it can not be rolled back, its state before is not stored
 * - `fault`: how it differs from the chained history, in a sentence
 * - `end`: how its rollout ended, unless that is complete
 */
export type HistoryEntry = Applied & {
  pruned?: true
  fault?: string | undefined
  end?: Pick<Rollout, 'state' | 'reason'> | undefined
}

/** Finds how the rollout of an apply ended; nothing for an apply that is no wave of one. */
export function findEnd({ id }: Applied, ended: Rollout[]): HistoryEntry['end'] {
  const { rollout, wave } = parseApplyId(id)
  const end = ended.find((each) => wave > 0 && each.id === rollout)
  return end && { state: end.state, reason: end.reason }
}

/** Names how an apply ended: a rollback and a refusal count more than how its process ended. */
export function nameOutcome({ outcome, writes, end }: HistoryEntry): string {
  if (end?.state === 'rolled-back') return 'rolled back'
  return outcome === 'incomplete' && writes.refused > 0 ? 'refused' : outcome
}

/** Describes what the service refused: `refused: https of www.example.com: …`. */
export function describeRefusal({ domains, items, message }: Omit<Refusal, 'code'>): string {
  return `refused: ${listSome(items)} of ${listSome(domains)}: ${message}`
}

interface Responsible {
  author?: string | null
  by?: Actor
}

/** Names who is responsible; null if that is unknown. */
export function nameAuthor({ author, by }: Responsible): string | null {
  if (by === undefined || by.knownBy === 'unidentified') return author ?? by?.name ?? null
  return describeIdentity(by)
}

/** Describes it with the commit: `by Ada · commit 8c1f0aa3b2d1 “Raise the pool” by Ben`. */
export function describeWho(done: Responsible & SourceTree): string {
  const author = nameAuthor(done)
  return [author === null ? [] : `by ${author}`, describeTree(done) ?? []].flat().join(' · ')
}

/** Describes how long an apply took, or why that is not known. */
export function describeLength({ startedAt, endedAt, outcome }: Applied): string {
  if (endedAt === null)
    return outcome === 'unfinished' ? 'not finished' : 'its process ended without recording its end'
  const seconds = Math.max(0, (Date.parse(endedAt) - Date.parse(startedAt)) / 1000)
  return Number.isFinite(seconds) ? formatDuration(seconds) : 'not known'
}

/** Lists on what an apply rests, how its rollout ended, and what was refused. */
export function listGrounds({ id, reason, overrides = [], end, refusals = [] }: HistoryEntry) {
  const lifted = overrides.map((each) =>
    [`${nameOverride(each)} overridden`, each.reason || []].flat().join(': '),
  )
  const isNew = reason !== undefined && overrides.every((each) => each.reason !== reason)
  const ending = end?.reason == null ? [] : describeEnding(end)
  const own = [isRollback(id) ? 'rollback' : [], isNew ? `reason: ${reason}` : []]
  return [...own, lifted, ending, refusals.map(describeRefusal)].flat()
}

/** What somebody did, as the chained history has it. */
export type Act = ChainFile

/** Tests whether an entry is shown with its apply. */
export function isOfApply({ kind }: Act): boolean {
  return ['apply', 'rollback', 'override', 'exception'].includes(kind)
}

/** What happened, and when (ISO 8601). */
export type LogEntry = {
  at: string
  text: string
  /** By whom, and more; empty for nothing. */
  note: string
  /** Page that it leads to; absent for none. */
  href?: string
}

/** Describes it: `approval 20261120T030000Z-1f3a: approved`, by whom, and its commit. */
export function describeEntry(
  entry: Pick<Act, 'at' | 'about' | 'outcome' | 'reason'> &
    SourceTree &
    Responsible & { kind: string },
): LogEntry {
  const { at, kind, about, outcome, reason } = entry
  const end = outcome === 'done' ? '' : `: ${outcome}`
  const why = reason ? ` (${reason})` : ''
  return { at, text: `${kind} ${about}${end}${why}`, note: describeWho(entry) }
}

/** Change of an item that an apply intended. */
export interface PastChange {
  /** Recorded state before; null if unrecorded. */
  before: Pick<ItemState, 'status' | 'candidates' | 'unknown'> | null
  /** Intended values: several if the value before was in-doubt, none if unset; null: released. */
  after: Value[] | null
  /**
   * The outcome, as state has it.
   *
   * - `confirmed`: the service confirmed it; `in-doubt`: it may have taken effect
   * - `refused`: the service refused it
   * - `unchanged`: afterwards the item was recorded as before; the write was not sent, or refused
   * - `released`: the item left state, as intended
   * - `not-recorded`: the item was not in state afterwards: refused, not sent, or forgotten since
   * - `not-known`: another command has replaced its state since
   */
  outcome:
    | 'confirmed'
    | 'in-doubt'
    | 'refused'
    | 'unchanged'
    | 'released'
    | 'not-recorded'
    | 'not-known'
  /** Text of the service; present only if it refused the item. */
  message?: string | undefined
}

/** An apply with what it intended for the items of a domain. */
export type PastApply = HistoryEntry & { items: ReadonlyMap<ItemKey, PastChange> }

/** Changes that an apply intended, by domain and item. */
export type PastChanges = ReadonlyMap<Domain, ReadonlyMap<ItemKey, PastChange>>

/**
 * Groups the applies of a history, first to last: the waves of a rollout (`<id>-w1`, `<id>-w2`, …)
 * form one group.
 */
export function groupApplies<T extends { id: string }>(history: T[]): T[][] {
  return [...groupBy(history, ({ id }) => parseApplyId(id).rollout).values()].map((waves) =>
    waves.toSorted((a, b) => parseApplyId(a.id).wave - parseApplyId(b.id).wave),
  )
}

/** Tests by its id whether an apply was a rollback, or a wave of one. */
export function isRollback(id: string): boolean {
  return parseApplyId(id).rollout.endsWith('-rollback')
}

/** Parses the id of an apply: the id of its rollout, and the number of its wave; 0 for none. */
export function parseApplyId(id: string): { rollout: string; wave: number } {
  const [, rollout = id, wave = '0'] = /^(.+)-w([1-9]\d*)$/.exec(id) ?? []
  return { rollout, wave: Number(wave) }
}
