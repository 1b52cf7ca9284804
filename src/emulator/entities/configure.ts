import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import { orderSets, type ItemSpec } from '../../core/catalog/item-spec.ts'
import { isObject, isSameJson } from '../../core/model/json.ts'
import type { ItemKey, Value, Wire } from '../../core/model/item.ts'
import type { Problem } from '../../core/model/problem.ts'

/** One valid item of a write. */
export interface ItemWrite {
  spec: ItemSpec
  /** Name of the item in the write. */
  wireName: string
  /** Items that the write empties. */
  cleared: ItemKey[]
  /** Value as submitted. */
  submitted: Wire
  /** Value with the types of the specification. */
  payload: Wire
  /** Value in canonical form. */
  value: Value
}

/** Result of a write on a domain, or the item that refuses it. */
type Configured = { items: Map<ItemKey, Value> } | { refused: ItemWrite; problems: Problem[] }

/**
 * Applies the items of a write in order; each clears the items that it excludes (specification,
 * "Configuration items"). `before` is not changed. A delta whose result violates a rule of the item
 * refuses the write.
 */
export function configure(before: ReadonlyMap<ItemKey, Value>, writes: ItemWrite[]): Configured {
  const items = new Map(before)
  for (const write of writes) {
    const { spec, payload, cleared } = write
    const stored = items.get(spec.key)
    const next = spec.reduce(stored, payload)
    const problems = findResultProblems(write, next)
    if (problems.length > 0) return { refused: write, problems }
    if (next === undefined) items.delete(spec.key)
    // Lists come back as they were written; entries are added behind the stored ones.
    else
      items.set(
        spec.key,
        orderSets(spec, next, isAddition(payload) ? [stored, payload] : [payload]),
      )
    for (const other of cleared) items.delete(other)
  }
  return { items }
}

/**
 * Finds problems of the result: a payload that is valid alone may exceed a limit or contradict
 * itself together with the stored value.
 */
function findResultProblems({ spec, value }: ItemWrite, next: Value | undefined): Problem[] {
  if (next === undefined || isSameJson(next, value)) return []
  return parseItem(spec, next, 'wire').problems.filter((problem) => problem.severity === 'error')
}

/** Tests whether a payload adds to the stored entries, or removes some. */
function isAddition(payload: Wire): boolean {
  if (Array.isArray(payload)) return payload.some((entry) => isObject(entry) && 'turn_on' in entry)
  if (!isObject(payload)) return false
  return payload['mode'] === 'append' || payload['type'] === 'add' || payload['type'] === 'remove'
}

/** Returns items in canonical form: they are stored with their lists as they were written. */
export function canonicalizeItems(items: ReadonlyMap<ItemKey, Value>): Record<ItemKey, Value> {
  return Object.fromEntries(
    [...items].map(([item, value]) => [item, getItemSpec(item).canonicalize(value)]),
  )
}
