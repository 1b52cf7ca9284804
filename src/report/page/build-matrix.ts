import type { Write } from '../../model/change.ts'
import { groupBy } from '../../model/group-by.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import type { Page, PageChange, PagePart } from '../../model/page.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { arrangeByGroups } from './arrange.ts'
import { cutParts, type PartContent } from './page-lines.ts'

/** A cell of the matrix; cells that look the same have one part. */
export interface Cell extends Pick<PageChange, 'place' | 'state'> {
  domain: Domain
  item: ItemKey
  part: PartContent
}

/** A write and its earliest time, seconds after the begin. */
export interface TimedWrite {
  write: Write
  seconds: number
}

type Matrix = Pick<Page, 'domains' | 'items' | 'parts' | 'changes' | 'writes'>

/**
 * Builds the matrix of domains and items. Domains and items of one write are neighbours as far as
 * possible; otherwise domains are sorted by name, and items by how often they occur.
 */
export function buildMatrix(cells: Cell[], writes: TimedWrite[] = []): Matrix {
  const groups = writes.map(({ write }) => write)
  const domains = arrange(
    [
      ...new Set([...cells.map(({ domain }) => domain), ...groups.flatMap((each) => each.domains)]),
    ].toSorted(),
    groups.map((write) => write.domains),
  )
  const items = arrange(
    sortByFrequency([
      ...cells.map(({ item }) => item),
      ...groups.flatMap((write) => Object.keys(write.items)),
    ]),
    groups.map((write) => Object.keys(write.items)),
  )
  const [domainIndex, itemIndex] = [indexNames(domains), indexNames(items)]
  const find = (index: ReadonlyMap<string, number>, name: string) => index.get(name) ?? -1
  const writesByCell = mapWrites(groups)
  const parts = new Map<PartContent, number>()
  const contents: PagePart[] = []
  const findPart = (item: ItemKey, part: PartContent): number => {
    const known = parts.get(part)
    if (known !== undefined) return known
    parts.set(part, contents.length)
    return contents.push({ item: find(itemIndex, item), ...part }) - 1
  }
  const changes = cells.map(({ domain, item, part, place, state }): PageChange => ({
    domain: find(domainIndex, domain),
    part: findPart(item, part),
    writes: writesByCell.get(domain)?.get(item) ?? [],
    place,
    state,
  }))
  return {
    domains: domains.map(escapeInvisible),
    items: items.map(escapeInvisible),
    parts: cutParts(contents),
    changes: changes.toSorted((a, b) => a.domain - b.domain || a.part - b.part),
    writes: writes.map(({ write: { id, wave, ...write }, seconds }) => ({
      id,
      wave,
      domains: write.domains.map((domain) => find(domainIndex, domain)),
      items: Object.entries(write.items).map(([item, { name }]) => ({
        item: find(itemIndex, item),
        form: name,
      })),
      seconds,
    })),
  }
}

function arrange(names: string[], groups: string[][]): string[] {
  const index = indexNames(names)
  const numbers = groups.map((group) => group.flatMap((name) => index.get(name) ?? []))
  return arrangeByGroups(names.length, numbers).flatMap((i) => names[i] ?? [])
}

function sortByFrequency(names: string[]): string[] {
  return [...groupBy(names, (name) => name)]
    .toSorted(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1))
    .map(([name]) => name)
}

function indexNames(names: string[]): Map<string, number> {
  return new Map(names.map((name, i) => [name, i]))
}

/** Maps domains and their items to the positions of their writes. */
function mapWrites(writes: Write[]): Map<Domain, Map<ItemKey, number[]>> {
  const all = new Map<Domain, Map<ItemKey, number[]>>()
  for (const [i, { domains, items }] of writes.entries()) {
    for (const domain of domains) {
      const own = all.get(domain) ?? new Map<ItemKey, number[]>()
      for (const item of Object.keys(items)) own.set(item, [...(own.get(item) ?? []), i])
      all.set(domain, own)
    }
  }
  return all
}
