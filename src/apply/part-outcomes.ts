import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Part } from './bisect-part.ts'
import type { Move } from './counts.ts'

/** Outcomes of the parts of one bisected write, by item and domain. */
export class PartOutcomes {
  readonly #outcomes = new Map<Domain, Map<ItemKey, Move['to']>>()

  /** @param whole the write; all of it is in-doubt */
  constructor({ domains, items }: Part) {
    for (const domain of domains)
      this.#outcomes.set(domain, new Map(items.map((item) => [item, 'inDoubt'])))
  }

  /** Returns the change of the counts if a part gets an outcome. */
  computeMoves({ domains, items }: Part, to: Move['to']): Move[] {
    return domains.flatMap((domain) =>
      items.flatMap((item) => {
        const from = this.#outcomes.get(domain)?.get(item)
        return from === undefined || from === to ? [] : [{ from, to, writes: 0, parts: 1 }]
      }),
    )
  }

  /** Sets the outcome of a part. */
  settle({ domains, items }: Part, outcome: Move['to']): void {
    for (const domain of domains)
      for (const item of items) this.#outcomes.get(domain)?.set(item, outcome)
  }

  /** Lists the parts without a known outcome; domains with the same items are one part. */
  listInDoubt(): Part[] {
    const parts = [...this.#outcomes].flatMap(([domain, outcomes]) => {
      const items = [...outcomes].flatMap(([item, outcome]) =>
        outcome === 'inDoubt' ? [item] : [],
      )
      return items.length === 0 ? [] : [{ domain, items }]
    })
    return [...groupBy(parts, ({ items }) => items.join(' ')).values()].flatMap((same) =>
      same.slice(0, 1).map(({ items }) => ({ domains: same.map(({ domain }) => domain), items })),
    )
  }
}
