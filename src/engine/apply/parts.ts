import { append, groupDomains, halve } from '../../core/model/lists.ts'
import type { Domain, ItemKey, Part } from '../../core/model/item.ts'
import type { Move } from './run.ts'

/**
 * Line of cells: items of the same domains, or domains with the same items. If nothing of it has
 * passed after `callsLeft` calls, all of it counts as refused.
 */
export interface Line {
  /** Sends a part; returns whether it is confirmed. */
  send(part: Part): Promise<boolean>
  callsLeft: number
  hasPassed: boolean
}

/** Joins parts of the same domains, or of the same items. */
export function joinParts(parts: Part[]): Part {
  return {
    domains: [...new Set(parts.flatMap(({ domains }) => domains))],
    items: [...new Set(parts.flatMap(({ items }) => items))],
  }
}

/**
 * Finds the refused cells among some of which at least one is refused.
 *
 * @param isSent whether exactly these cells were sent, not only more with them
 */
export async function findCulprits(cells: Part[], isSent: boolean, line: Line): Promise<Part[]> {
  const { cell, isSent: isCellSent, later } = await narrow(cells, isSent, line)
  const culprits = isCellSent || !(await passes([cell], line)) ? [cell] : []
  return later.length === 0 || (await passes(later, line))
    ? culprits
    : findMore(culprits, later, line)
}

/** Finds the refused cells beside known ones, among cells that were sent and refused. */
export async function findMore(culprits: Part[], cells: Part[], line: Line): Promise<Part[]> {
  if (cells.length === 1) return [...culprits, ...cells]
  const found = [...culprits]
  let rest = cells
  // As long as nothing has passed, each cell is likely to be refused.
  while (!line.hasPassed && rest.length > 0) {
    if (line.callsLeft <= 0) return [...found, ...rest]
    const cell = rest.slice(0, 1)
    rest = rest.slice(1)
    if (!(await passes(cell, line))) append(found, cell)
  }
  const isKnown = rest.length === cells.length
  if (rest.length === 0 || (!isKnown && (await passes(rest, line)))) return found
  return [...found, ...(await findCulprits(rest, true, line))]
}

/**
 * Halves cells among which one is refused, until one is left. The second half is refused if the
 * first passes, and is tested later otherwise.
 */
export async function narrow(
  cells: Part[],
  isSent: boolean,
  line: Line,
): Promise<{ cell: Part; isSent: boolean; later: Part[] }> {
  const [first, second] = halve(cells)
  if (second.length === 0) return { cell: joinParts(first), isSent, later: [] }
  if (await passes(first, line)) return narrow(second, false, line)
  const { later, ...found } = await narrow(first, true, line)
  return { ...found, later: [...later, ...second] }
}

async function passes(cells: Part[], line: Line): Promise<boolean> {
  line.callsLeft--
  const isConfirmed = await line.send(joinParts(cells))
  line.hasPassed ||= isConfirmed
  return isConfirmed
}

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
  const groups = groupDomains(parts, ({ items: some }) => some.join(' '))
  return groups.map(({ first, domains: same }) => ({ domains: same, items: first.items }))
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
