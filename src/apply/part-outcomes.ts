import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Part } from './bisect-line.ts'
import type { Move } from './counts.ts'

/** Outcomes of the parts of one bisected write, by item and domain. */
export class PartOutcomes {
  readonly #whole: Part
  /** Null: not known yet; it counts as in-doubt. */
  readonly #outcomes = new Map<Domain, Map<ItemKey, Move['to'] | null>>()

  /** @param whole the write; all of it is in-doubt */
  constructor(whole: Part) {
    this.#whole = whole
    for (const domain of whole.domains)
      this.#outcomes.set(domain, new Map(whole.items.map((item) => [item, null])))
  }

  /** Returns the change of the counts if a part gets an outcome. */
  computeMoves({ domains, items }: Part, to: Move['to']): Move[] {
    return domains.flatMap((domain) =>
      items.flatMap((item) => {
        const outcome = this.#outcomes.get(domain)?.get(item)
        const from = outcome ?? 'inDoubt'
        return outcome === undefined || from === to ? [] : [{ from, to, writes: 0, parts: 1 }]
      }),
    )
  }

  /** Sets the outcome of a part. */
  settle({ domains, items }: Part, outcome: Move['to']): void {
    for (const domain of domains)
      for (const item of items) this.#outcomes.get(domain)?.set(item, outcome)
  }

  /** Lists the parts without an outcome yet. */
  listUnsettled(): Part[] {
    return selectParts(
      this.#whole,
      (domain, item) => this.#outcomes.get(domain)?.get(item) === null,
    )
  }
}

/** Selects items of domains from a part; domains with the same items are one part. */
export function selectParts(
  { domains, items }: Part,
  isSelected: (domain: Domain, item: ItemKey) => boolean,
): Part[] {
  const parts = domains.flatMap((domain) => {
    const selected = items.filter((item) => isSelected(domain, item))
    return selected.length === 0 ? [] : [{ domain, items: selected }]
  })
  return [...groupBy(parts, ({ items: some }) => some.join(' ')).values()].flatMap((same) =>
    same
      .slice(0, 1)
      .map(({ items: some }) => ({ domains: same.map(({ domain }) => domain), items: some })),
  )
}

/** Set of items of domains. */
export class PairSet {
  readonly #pairs = new Set<string>()

  add({ domains, items }: Part): void {
    for (const domain of domains) for (const item of items) this.#pairs.add(`${domain} ${item}`)
  }

  has(domain: Domain, item: ItemKey): boolean {
    return this.#pairs.has(`${domain} ${item}`)
  }
}
