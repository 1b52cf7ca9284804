import type { Change } from '../model/change.ts'
import { groupBy } from '../model/lists.ts'
import type { ItemKey } from '../model/item.ts'

/** A planned change that needs another one of its domain, which is not planned. */
export interface Needed {
  planned: Change
  other: Change
  reason: 'emptied' | 'together'
}

/** A part of a plan: its changes, and the known state of their items at the service. */
export interface PlanPart {
  isPlanned(change: Change): boolean
  /** Tests whether the desired value of an item is the last applied one. */
  isApplied(change: Change): boolean
  /** Tests whether the service probably has the last applied value of an item. */
  isUntouched(change: Change): boolean
  /** Sets of items that take effect together. */
  together: ItemKey[][]
}

/**
 * Finds the changes that a part of a plan needs besides its own. An item is emptied by the write of
 * another one, so neither change is made alone. Items in `together` are not written in part, unless
 * that restores the values which were last applied together.
 *
 * @param changes all changes, planned or not
 */
export function findNeeded(changes: Change[], part: PlanPart): Needed[] {
  const domains = groupBy(changes, ({ domain }) => domain)
  return [...domains.values()].flatMap((own) => [
    ...findEmptied(own, part),
    ...part.together.flatMap((set) => findTogether(own, set, part)),
  ])
}

function findEmptied(own: Change[], { isPlanned }: PlanPart): Needed[] {
  return own.flatMap((emptied): Needed[] => {
    const by = own.find(({ item }) => emptied.reason === 'cleared' && item === emptied.by)
    if (by === undefined || isPlanned(emptied) === isPlanned(by)) return []
    const [planned, other] = isPlanned(emptied) ? [emptied, by] : [by, emptied]
    return [{ planned, other, reason: 'emptied' }]
  })
}

function findTogether(own: Change[], set: ItemKey[], part: PlanPart): Needed[] {
  const written = own.filter(
    ({ item, action, reason }) =>
      set.includes(item) && action !== 'release' && reason !== 'secret-unknown',
  )
  const planned = written.filter((change) => part.isPlanned(change))
  const others = written.filter((change) => !part.isPlanned(change))
  const [first] = planned
  const isRestored =
    planned.every((change) => part.isApplied(change)) &&
    others.every((change) => part.isUntouched(change))
  if (first === undefined || isRestored) return []
  return others.map((other) => ({ planned: first, other, reason: 'together' }))
}
