import type { Domain, ItemKey, Part } from '../../core/model/item.ts'
import { halve } from '../../core/model/lists.ts'
import { unknownDomain } from '../../core/model/outcome.ts'
import { findCulprits, findMore, joinParts, narrow, type Line, PairSet } from './parts.ts'

/** Answer of the service to a refused part. */
export interface Answer {
  code: number | null
  message: string
}

/** Bisection of one rectangle of a refused write. */
export interface Bisection {
  /**
   * Sends a part and records its outcome; returns null if it is confirmed.
   *
   * @throws an error that ends the bisection if the part is neither confirmed nor refused
   */
  send(part: Part): Promise<Answer | null>
  /** Reports a part as the culprit: nothing of it was saved. */
  reportCulprit(part: Part): Promise<void>
  /** Domains that the service does not know. */
  unknownDomains: Set<Domain>
  /** Items of the rectangle that are sent together. */
  bundles: ItemKey[][]
}

/**
 * Bisects a rectangle of a refused write down to the items that single domains refuse. An item that
 * all domains refuse, or a domain that refuses all items, is one culprit: it counts as such once
 * nothing of it has passed within the calls that such a culprit may take.
 *
 * @param refusal answer to exactly this rectangle; null if it was not sent alone
 */
export function bisectRectangle(
  whole: Part,
  bisection: Bisection,
  refusal: Answer | null,
): Promise<void> {
  return new Search(whole, bisection).run(refusal)
}

class Search {
  readonly #whole: Part
  readonly #bisection: Bisection
  /** Confirmed and reported parts. */
  readonly #settled = new PairSet()
  #hasPassed = false
  /** Calls that are left of those that one bad item, domain or item of a domain may take. */
  #callsLeft: number

  constructor(whole: Part, bisection: Bisection) {
    this.#whole = whole
    this.#bisection = bisection
    this.#callsLeft =
      computeCalls(bisection.bundles.length) + computeCalls(whole.domains.length) - 2
  }

  async run(refusal: Answer | null): Promise<void> {
    const answer = await this.#send(this.#whole, refusal)
    if (answer === null) return
    const rest = this.#selectUnsettled(this.#whole)
    const hinted = findHintedPart(rest, answer.message, this.#bisection.bundles)
    if (hinted === null) return this.#isolate(rest, true)
    const others = excludePart(rest, hinted)
    if ((await this.#send(others)) !== null) return this.#isolate(rest, true)
    const isDomain = hinted.items.length === rest.items.length
    if (!isDomain || (await this.#send(hinted)) !== null) await this.#isolate(hinted, isDomain)
  }

  /** Returns a part without domains that are unknown or completely settled. */
  #selectUnsettled({ domains, items }: Part): Part {
    const isOpen = (domain: Domain) => items.some((item) => !this.#settled.has(domain, item))
    const { unknownDomains } = this.#bisection
    return { domains: domains.filter((each) => !unknownDomains.has(each) && isOpen(each)), items }
  }

  /**
   * Sends the unsettled domains of a part. Unknown ones are found, reported and left out.
   *
   * @param refusal answer to the part if it was sent before
   * @returns null if the rest is confirmed
   */
  async #send(part: Part, refusal: Answer | null = null): Promise<Answer | null> {
    if (refusal === null) this.#callsLeft--
    for (let known = refusal; ; known = null) {
      const rest = this.#selectUnsettled(part)
      if (rest.domains.length === 0 || rest.items.length === 0) return null
      const answer = known ?? (await this.#sendOnce(rest))
      if (answer?.code !== unknownDomain || !(await this.#findUnknown(rest, answer))) return answer
    }
  }

  async #sendOnce(part: Part): Promise<Answer | null> {
    const answer = await this.#bisection.send(part)
    if (answer !== null) return answer
    this.#hasPassed = true
    this.#settled.add(part)
    return null
  }

  /** Finds an unknown domain of a part that was refused because of one, and reports it. */
  async #findUnknown({ domains, items }: Part, { message }: Answer): Promise<boolean> {
    const named = findNamed(domains, message)
    let [rest, isSent] = [named.length === 1 ? named : domains, domains.length === 1]
    while (rest.length > 1) {
      const [first, second] = halve(rest)
      isSent = (await this.#sendOnce({ domains: first, items }))?.code === unknownDomain
      rest = isSent ? first : second
    }
    if (!isSent && (await this.#sendOnce({ domains: rest, items }))?.code !== unknownDomain)
      return false
    for (const domain of rest) {
      this.#bisection.unknownDomains.add(domain)
      const open = this.#whole.items.filter((item) => !this.#settled.has(domain, item))
      await this.#reportCulprit({ domains: [domain], items: open })
    }
    return true
  }

  /**
   * Bisects a refused part: finds an item that is refused, then the domains that refuse it.
   *
   * @param isSent whether exactly this part was sent, not only more with it
   */
  async #isolate(given: Part, isSent: boolean): Promise<void> {
    const part = this.#selectUnsettled(given)
    if (part.domains.length === 0) return
    // Perhaps the service accepts nothing.
    if (!this.#hasPassed && this.#callsLeft <= 0) return this.#reportCulprit(part)
    const bundles = this.#splitItems(part)
    if (part.domains.length === 1) return this.#isolateLine(bundles, isSent)
    if (bundles.length === 1) return this.#isolateLine(splitDomains(part), isSent)
    const search = this.#createLine(Infinity)
    const { cell, isSent: isCellSent, later } = await narrow(bundles, isSent, search)
    const row = this.#createLine(computeCalls(part.domains.length))
    const culprits = await findCulprits(splitDomains(cell), isCellSent, row)
    const rest = joinParts(later)
    if (!search.hasPassed && row.hasPassed && culprits.length > 0)
      return this.#isolateColumns(culprits, part.domains, rest.items)
    await this.#report(culprits, row)
    if ((await this.#send(rest)) !== null) await this.#isolate(rest, true)
  }

  async #isolateLine(cells: Part[], isSent: boolean): Promise<void> {
    const line = this.#createLine(computeCalls(cells.length))
    await this.#report(await findCulprits(cells, isSent, line), line)
  }

  /**
   * Bisects the other items where only some domains refuse an item: perhaps these refuse all.
   *
   * @param culprits the item and each domain that refuses it
   */
  async #isolateColumns(culprits: Part[], domains: Domain[], items: ItemKey[]): Promise<void> {
    const bad = culprits.flatMap((cell) => cell.domains)
    const others = { domains: domains.filter((domain) => !bad.includes(domain)), items }
    const areOthersRefused = (await this.#send(others)) !== null
    const isRefused = (await this.#send({ domains: bad, items })) !== null
    const isOne = bad.length === 1 && !areOthersRefused
    for (const cell of culprits) {
      const column = { ...cell, items }
      const cells = this.#splitItems(column)
      const calls = computeCalls(cells.length)
      const line = this.#createLine(isOne ? Math.max(calls / 2 - 2, this.#callsLeft) : calls)
      const isSuspect = isRefused && (bad.length === 1 || (await this.#send(column)) !== null)
      await this.#report(isSuspect ? await findMore([cell], cells, line) : [cell], line)
    }
    if (areOthersRefused) await this.#isolate(others, true)
  }

  #createLine(callsLeft: number): Line {
    return {
      send: async (part) => (await this.#send(part)) === null,
      callsLeft,
      hasPassed: false,
    }
  }

  #splitItems({ domains, items }: Part): Part[] {
    return this.#bisection.bundles
      .filter((bundle) => bundle.some((item) => items.includes(item)))
      .map((bundle) => ({ domains, items: bundle }))
  }

  /** Reports the culprits of a line: as one if nothing of it has passed. */
  async #report(culprits: Part[], { hasPassed }: Line): Promise<void> {
    const known = culprits.filter((part) => this.#selectUnsettled(part).domains.length > 0)
    const parts = hasPassed || known.length < 2 ? known : [joinParts(known)]
    for (const part of parts) await this.#reportCulprit(this.#selectUnsettled(part))
  }

  async #reportCulprit(part: Part): Promise<void> {
    this.#settled.add(part)
    await this.#bisection.reportCulprit(part)
  }
}

/** Computes the calls that a line may take before all of it counts as refused. */
function computeCalls(cells: number): number {
  return 2 * Math.ceil(Math.log2(cells)) + 2
}

/** Finds the item or domain that a message names, if it names exactly one and there are others. */
function findHintedPart({ domains, items }: Part, message: string, bundles: ItemKey[][]) {
  const [item, ...otherItems] = findNamed(items, message)
  const bundle = bundles.find((each) => item !== undefined && each.includes(item))
  if (bundle !== undefined && otherItems.length === 0 && bundle.length < items.length)
    return { domains, items: bundle }
  const named = findNamed(domains, message)
  return named.length === 1 && domains.length > 1 ? { domains: named, items } : null
}

function findNamed(names: string[], message: string): string[] {
  const words = new Set(message.toLowerCase().match(/[a-z0-9_.-]+/g) ?? [])
  return names.filter((name) => words.has(name) || words.has(`${name}.`))
}

function excludePart(whole: Part, excluded: Part): Part {
  if (excluded.items.length < whole.items.length)
    return { ...whole, items: whole.items.filter((item) => !excluded.items.includes(item)) }
  return { ...whole, domains: whole.domains.filter((each) => !excluded.domains.includes(each)) }
}

function splitDomains({ domains, items }: Part): Part[] {
  return domains.map((domain) => ({ domains: [domain], items }))
}
