import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { reduceForm } from '../../core/catalog/item-spec.ts'
import { listClearedItems, type ItemKeys } from '../../core/catalog/wire-names.ts'
import { findMax } from '../../core/model/lists.ts'
import { isSameJson } from '../../core/model/json.ts'
import { isSafeToRepeat, type Write } from '../../core/model/change.ts'
import { listPossible, type Domain, type ItemKey, type Possible } from '../../core/model/item.ts'
import type { RecordedState, RecordedItem } from '../../state/store/store.ts'
import { findDeadApply, findRelatedItems, maxSkewMs, type EarlierCalls } from './earlier-calls.ts'
import type { Moment } from './run.ts'

/** Facts about an apply that limit the late effects of earlier writes. */
export interface SettleContext extends EarlierCalls {
  apply: string
  /** Instant of acquiring the lock; other processes abandoned their writes before it. */
  lockedAt: Moment
  timeoutMs: number
  settleMs: number
  /**
   * Whether calls end with their process: its service is the emulator inside of it, whose data file
   * accepts no write of another process.
   */
  endsWithProcess: boolean
  /** Names of items on the wire, where they differ. */
  itemKeys: ItemKeys
}

/**
 * Computes the wait until no earlier call can take effect on the items of a write, ms.
 *
 * The last call of an apply that died may have been sent just before the lock was acquired: it may
 * take effect for the timeout and the settle time of that apply, or of this one if they are longer.
 * A write of the same value need not wait for it.
 *
 * An abandoned call may take effect for `settleMs` more. The recorded time of another apply's
 * outcome counts if it is more than five minutes before the lock was acquired. Otherwise its clock
 * may be wrong, and the time of acquiring the lock counts.
 */
export function computeSettleWait(
  write: Write,
  recorded: RecordedState,
  now: number,
  context: SettleContext,
): number {
  const related = findRelatedItems(Object.keys(write.items), context.itemKeys)
  const ends = write.domains.flatMap((domain) =>
    [...related].flatMap((item) => {
      const state = findState(domain, item, recorded, context)
      if (state === undefined) return []
      const lateEnd = findLateEnd(state, context)
      const before = context.lateCalls.get(state.apply)?.before.get(domain)?.get(item)
      if (lateEnd !== null && !isRepeated(write, item, state, before, context)) return [lateEnd]
      const abandonedEnd = lateEnd === null ? findAbandonedEnd(state, now, context) : null
      return abandonedEnd === null ? [] : [abandonedEnd]
    }),
  )
  const waits = ends.map((end) => end - now)
  return findMax(waits, 0)
}

function findState(
  domain: Domain,
  item: ItemKey,
  recorded: RecordedState,
  { forgotten }: EarlierCalls,
): RecordedItem | undefined {
  return recorded.get(domain)?.get(item) ?? forgotten.get(domain)?.get(item)
}

/** Returns when no call of a dead apply can change an item any more; null if there is none. */
function findLateEnd(
  state: RecordedItem,
  { lockedAt: { atMs }, timeoutMs, settleMs, endsWithProcess, lateCalls }: SettleContext,
): number | null {
  const apply = findDeadApply(state)
  if (apply === undefined || endsWithProcess) return null
  const windowMs = Math.max(lateCalls.get(apply)?.landWithinMs ?? 0, timeoutMs + settleMs)
  const isOver = state.open !== true && Date.parse(state.at) + windowMs < atMs - maxSkewMs
  return isOver ? null : atMs + windowMs
}

/** Returns when an abandoned call can no longer change an item; null if there is none. */
function findAbandonedEnd(
  state: RecordedItem,
  now: number,
  { apply, lockedAt: { atMs }, settleMs, endsWithProcess }: SettleContext,
): number | null {
  // An item that was only observed is in-doubt without a call that could take effect.
  if (state.status !== 'in-doubt' || state.origin !== 'write' || state.answered === true)
    return null
  if (endsWithProcess && state.apply !== apply) return null
  const abandonedAtMs = Date.parse(state.at)
  const isTrusted = state.apply === apply || abandonedAtMs < atMs - maxSkewMs
  return Math.min(now, isTrusted ? abandonedAtMs : atMs) + settleMs
}

/**
 * Returns whether a write leaves an in-doubt item at the value that a late call sets: in any order,
 * both calls lead to the same value.
 *
 * @param before state before the apply of the late call; null if unrecorded
 */
function isRepeated(
  write: Write,
  item: ItemKey,
  state: RecordedItem,
  before: RecordedItem | null | undefined,
  { itemKeys }: SettleContext,
): boolean {
  const form = write.items[item]
  const spec = getItemSpec(item)
  if (form === undefined || before === undefined || !isSafeToRepeat(form.name)) return false
  // The late call may be a delta, or may clear another item.
  if (spec.buildDeltas !== undefined || listClearedItems(item, itemKeys).length > 0) return false
  // A late DELETE of an unrecorded item leaves no candidate: what it unsets is not known either.
  if (before === null && state.candidates.length === 0) return false
  const possible = listPossible(state)
  const isBeforeCertain =
    before === null || (before.status !== 'in-doubt' && before.late === undefined)
  const unchanged = isBeforeCertain ? listPossible(before ?? undefined) : []
  const isUnchanged = (value: Possible) => unchanged.some((other) => isSameJson(other, value))
  const sent = possible.map((value) => reduceForm(spec, value, form))
  return [...sent, ...possible.filter((value) => !isUnchanged(value))].every((value) =>
    isSameJson(value, sent[0]),
  )
}

/**
 * Marks the items that a call of a dead apply may still change although a later call has an
 * outcome: until then, no other value may be sent.
 */
export function markLate(
  domain: Domain,
  items: ReadonlyMap<ItemKey, RecordedItem>,
  before: ReadonlyMap<ItemKey, RecordedItem>,
  now: number,
  context: SettleContext,
): Map<ItemKey, RecordedItem> {
  const marked = new Map(items)
  for (const [item, state] of items) {
    const previous = before.get(item) ?? context.forgotten.get(domain)?.get(item)
    if (previous === undefined || previous === state) continue
    const late = findDeadApply(previous)
    const end = findLateEnd(previous, context)
    if (late !== undefined && end !== null && end > now) marked.set(item, { ...state, late })
  }
  return marked
}
