import type { Write } from '../../../core/model/change.ts'
import { groupBy } from '../../../core/model/lists.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Page, PageChange, PagePart, PageLine } from '../../../core/model/page/page.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { BlockPart } from '../plan/blocks.ts'
import { listBlockLines } from '../plan/format-block.ts'
import { plainPaint } from '../text/paint.ts'

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
  const domains = sortByWrites(
    [...cells.map(({ domain }) => domain), ...groups.flatMap((write) => write.domains)].toSorted(),
    groups.map((write) => write.domains),
  )
  const writtenItems = groups.map((write) => Object.keys(write.items))
  const items = sortByWrites(
    sortByFrequency([...cells.map(({ item }) => item), ...writtenItems.flat()]),
    writtenItems,
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
    parts: contents,
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

/**
 * Sorts names by their writes, so that those of one write are neighbours as far as possible; names
 * without a write are last. Equal ones keep their order, which is that of their names for domains.
 */
function sortByWrites(names: string[], writes: string[][]): string[] {
  const own = new Map(names.map((name) => [name, [] as number[]]))
  for (const [write, of] of writes.entries()) for (const name of of) own.get(name)?.push(write)
  const compare = ([, a]: [string, number[]], [, b]: [string, number[]]): number => {
    if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0)
    const at = [...a.keys(), a.length].find((i) => a[i] !== b[i]) ?? 0
    return (a[at] ?? -1) - (b[at] ?? -1)
  }
  return [...own].toSorted(compare).map(([name]) => name)
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

/** Shown content of a part; its item is known by its name. */
export type PartContent = Omit<PagePart, 'item'>

/** Columns that no line has. */
const unlimitedColumns = 1_000_000

/** Builds what a page shows of a part: its first lines, without colours. */
export function buildPartContent(part: BlockPart, maxFields = 200): PartContent {
  const { action, note, isDestructive } = part
  const block = { domains: [''], parts: [{ ...part, note: '' }] }
  const options = { paint: plainPaint, columns: unlimitedColumns, verbose: false, maxFields }
  const lines = listBlockLines(block, options, 0).map(({ kind, ...line }): PageLine => ({
    ...line,
    action: kind === 'continued' ? null : line.action,
    isRemark: kind === 'remark' || kind === 'warning',
  }))
  return { action, note: escapeInvisible(note), isDestructive, lines }
}
