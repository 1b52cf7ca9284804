import type { Part } from './bisect-part.ts'
import type { Move } from './counts.ts'

/** Outcomes of the parts of one bisected write, each an item of a domain. */
export class PartOutcomes {
  readonly #outcomes = new Map<string, { part: Part; outcome: Move['to'] }>()

  /** @param whole the write; all of it is in-doubt */
  constructor({ domains, items }: Part) {
    for (const domain of domains)
      for (const item of items) {
        const part = { domains: [domain], items: [item] }
        this.#outcomes.set(`${domain} ${item}`, { part, outcome: 'inDoubt' })
      }
  }

  /** Sets the outcome of a part. Returns the change of the counts. */
  settle({ domains, items }: Part, to: Move['to']): Move[] {
    return domains.flatMap((domain) =>
      items.flatMap((item) => {
        const known = this.#outcomes.get(`${domain} ${item}`)
        if (known === undefined || known.outcome === to) return []
        const from = known.outcome
        known.outcome = to
        return [{ from, to, writes: 0, parts: 1 }]
      }),
    )
  }

  /** Lists the parts without a known outcome, one for each item of a domain. */
  listInDoubt(): Part[] {
    return [...this.#outcomes.values()].flatMap(({ part, outcome }) =>
      outcome === 'inDoubt' ? [part] : [],
    )
  }
}
