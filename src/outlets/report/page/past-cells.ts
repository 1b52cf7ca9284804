import type { PastChange, PastChanges } from '../../../core/model/applied.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Page, PageChange, PageLine, PagePart } from '../../../core/model/page/page.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { buildPastPart } from '../apply/past-part.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { buildPartContent } from './build-matrix.ts'

/** Maximum characters of all values, and of the changes as JSON. */
const [maxLines, maxChanges] = [1_200_000, 1_200_000]
/** Characters of the values of one part that count: the rest is cut. */
const maxOfPart = 20_000
/** Characters of a change in JSON: of those that look the same, and of a domain in it. */
const [groupLength, domainLength] = [48, 6]

/** Collects the changes of applies, from the latest on, until they are too many for a page. */
export class PastCells {
  private readonly redact: (text: string) => string
  private readonly domains = new Map<Domain, number>()
  private readonly items = new Map<ItemKey, number>()
  private readonly parts: PagePart[] = []
  private readonly partsByLook = new Map<string, number>()
  private lines = 0
  private length = 0
  private withoutValues = 0

  /** @param domains names in the order in which they are numbered */
  constructor(redact: (text: string) => string, domains: Iterable<Domain>) {
    this.redact = redact
    for (const domain of domains) findNumber(this.domains, domain)
  }

  /**
   * Adds what an apply changed, equal changes together.
   *
   * @param apply its position in the page
   * @returns null if it does not fit, and then no later one does
   */
  add(changes: PastChanges, apply: number): PageChange[] | null {
    const found = new Map<string, PageChange[]>()
    for (const [domain, items] of changes) {
      for (const [item, change] of items) {
        if (this.length > maxChanges) return null
        const part = this.findPart(item, change)
        const key = `${part} ${change.outcome}`
        const same = found.get(key) ?? []
        if (same.length === 0) this.length += groupLength
        this.length += domainLength
        found.set(key, same)
        const state = change.outcome
        const number = findNumber(this.domains, domain)
        same.push({ domain: number, part, writes: [apply], place: null, state })
      }
    }
    return [...found.values()].flat()
  }

  /** Returns the names and parts that the changes refer to. */
  build(): Pick<Page, 'domains' | 'items' | 'parts'> {
    return {
      domains: [...this.domains.keys()].map((name) => escapeInvisible(this.redact(name))),
      items: [...this.items.keys()].map((name) => escapeInvisible(this.redact(name))),
      parts: this.parts,
    }
  }

  /** Lists the values that were left out, as a fact. */
  listMissing(): Page['facts'] {
    const kinds = pluralize(this.withoutValues, 'kind of change', 'kinds of changes')
    const why = 'since this file would be too large: "edgewise state history DOMAIN" prints them'
    return this.withoutValues === 0 ? [] : [['Left out', `values of ${kinds}, ${why}`]]
  }

  private findPart(item: ItemKey, change: PastChange): number {
    const look = JSON.stringify([item, change])
    const known = this.partsByLook.get(look)
    if (known !== undefined) return known
    const part = this.buildPart(item, change)
    const size = part.lines.reduce((all, line) => all + line.text.length + 60, 80)
    const fits = this.lines + Math.min(size, maxOfPart) <= maxLines
    if (fits) this.lines += Math.min(size, maxOfPart)
    else this.withoutValues++
    const number = fits ? this.parts.push(part) - 1 : this.addWithoutValues(part)
    this.partsByLook.set(look, number)
    return number
  }

  private buildPart(item: ItemKey, change: PastChange): PagePart {
    const { lines, ...content } = buildPartContent(buildPastPart(item, change))
    const redacted = lines.map((line): PageLine => ({ ...line, text: this.redact(line.text) }))
    return { item: findNumber(this.items, item), ...content, lines: redacted }
  }

  private addWithoutValues({ lines: _lines, ...part }: PagePart): number {
    const look = JSON.stringify(part)
    const known = this.partsByLook.get(look)
    if (known !== undefined) return known
    const text = 'Values are left out: "edgewise state history DOMAIN" prints them.'
    const remark: PageLine = { action: null, indent: 0, text, isRemark: true }
    const number = this.parts.push({ ...part, lines: [remark] }) - 1
    this.partsByLook.set(look, number)
    return number
  }
}

function findNumber(numbers: Map<string, number>, name: string): number {
  const number = numbers.get(name) ?? numbers.size
  numbers.set(name, number)
  return number
}
