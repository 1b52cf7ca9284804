import { itemSpec } from '../../src/catalog/catalogue.ts'
import { sameJson } from '../../src/model/canonical-json.ts'
import type { Form, Write } from '../../src/model/change.ts'
import type { ItemKey } from '../../src/model/item.ts'
import type { Plan } from '../../src/model/plan.ts'
import type { Recorded } from '../../src/state/store.ts'
import type { Chance } from './chance.ts'

/** A plan that, more often than the planner has reason to, sends what is added or taken away where it would send the whole: any planner may. */
export function withDeltas(plan: Plan, recorded: Recorded, chance: Chance): Plan {
  const after = new Map(plan.changes.map((change) => [`${change.domain} ${change.item}`, change.after]))
  const deltaOf = (write: Write, item: ItemKey): Form | undefined => {
    const ways = write.domains.map((domain) => {
      const held = recorded.get(domain)?.get(item)
      const wanted = after.get(`${domain} ${item}`) ?? null
      if (held === undefined || wanted === null) return []
      const { deltas, joined } = itemSpec(item)
      const parts = deltas?.(held, wanted) ?? []
      const oneName = parts.every(({ name }) => name === parts[0]?.name && name !== 'switch')
      return parts.length > 0 && oneName && joined !== undefined ? [joined(parts)] : []
    })
    return ways[0]?.find((form) => ways.every((forms) => forms.some((other) => sameJson(other.payload, form.payload))))
  }
  const writes = plan.writes.map((write) => ({
    ...write,
    items: Object.fromEntries(
      Object.entries(write.items).map(([item, form]): [ItemKey, Form] => {
        const delta = form.name === 'replace' && chance.happens(0.5) ? deltaOf(write, item) : undefined
        return [item, delta ?? form]
      }),
    ),
  }))
  return { ...plan, writes }
}
