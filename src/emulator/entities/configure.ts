import { parseItem } from '../../catalog/parse-item.ts'
import type { ItemSpec } from '../../catalog/item-spec.ts'
import { isSameJson } from '../../model/canonical-json.ts'
import type { Domain, ItemKey, Value, Wire } from '../../model/item.ts'
import type { Problem } from '../../model/problem.ts'

/** One item of a write that is valid for itself. */
export interface ItemWrite {
  spec: ItemSpec
  /** As the write spells the item. */
  wireName: string
  /** As submitted. */
  submitted: Wire
  /** With the specification's types. */
  payload: Wire
  /** Its canonical form. */
  value: Value
}

/** What a write makes of a domain, or the item with which it can't be carried out. */
type Configured = { items: Map<ItemKey, Value> } | { refused: ItemWrite; problems: Problem[] }

/**
 * What a domain holds after a write: its items applied in order, each emptying those that it
 * excludes (specification, "Configuration items"). `held` stays as it is. A delta whose result
 * breaks a rule of the item refuses the write.
 */
export function configure(
  held: ReadonlyMap<ItemKey, Value>,
  writes: ItemWrite[],
  domain: Domain,
): Configured {
  const items = new Map(held)
  for (const write of writes) {
    const { spec, payload } = write
    const next = spec.reduce(items.get(spec.key), payload)
    const problems = resultProblems(write, next, domain)
    if (problems.length > 0) return { refused: write, problems }
    if (next === undefined) items.delete(spec.key)
    else items.set(spec.key, next)
    for (const other of spec.clearedItems) items.delete(other)
  }
  return { items }
}

/**
 * A payload was judged alone; together with what was held it may be too much, or contradict itself.
 */
function resultProblems(
  { spec, value }: ItemWrite,
  next: Value | undefined,
  domain: Domain,
): Problem[] {
  if (next === undefined || isSameJson(next, value)) return []
  return parseItem(spec, next, 'wire', domain).problems.filter(
    (problem) => problem.severity === 'error',
  )
}
