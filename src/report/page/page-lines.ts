import type { PageLine, PagePart } from '../../model/page.ts'
import type { BlockPart } from '../plan/blocks.ts'
import { listBlockLines } from '../plan/format-block.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { plainPaint } from '../text/paint.ts'

/** What a part shows; its item is known by its name. */
export type PartContent = Omit<PagePart, 'item'>

/** Columns that no line has. */
const unlimitedColumns = 1_000_000
/** Characters of the values of all parts, and the maximum and minimum of a part. */
const [maxTotal, maxOfPart, minOfPart] = [1_000_000, 50_000, 200]

/** Builds what a page shows of a part: its values line by line, without colours and folding. */
export function buildPartContent(part: BlockPart): PartContent {
  const { action, note, isDestructive } = part
  const block = { domains: [''], parts: [{ ...part, note: '' }] }
  const options = { paint: plainPaint, columns: unlimitedColumns, verbose: true }
  const lines = listBlockLines(block, options, 0).map(({ kind, ...line }): PageLine => ({
    ...line,
    action: kind === 'continued' ? null : line.action,
    isRemark: kind === 'remark' || kind === 'warning',
  }))
  return { action, note: escapeInvisible(note), isDestructive, lines }
}

/**
 * Cuts the lines of parts, so that a page does not become too large: all parts to the same number
 * of characters. A remark counts what is missing.
 */
export function cutParts<T extends Pick<PagePart, 'lines'>>(parts: T[]): T[] {
  const sizes = parts.map(({ lines }) => lines.reduce((sum, line) => sum + measure(line), 0))
  const measureAll = (limit: number) => sizes.reduce((sum, size) => sum + Math.min(size, limit), 0)
  let limit = maxOfPart
  while (limit > minOfPart && measureAll(limit) > maxTotal) limit = Math.floor(limit / 2)
  return parts.map((part, i) =>
    (sizes[i] ?? 0) <= limit ? part : { ...part, lines: cutLines(part.lines, limit) },
  )
}

function cutLines(lines: PageLine[], limit: number): PageLine[] {
  let room = limit
  const kept: PageLine[] = []
  for (const line of lines) {
    room -= measure(line)
    if (room < 0) break
    kept.push(line)
  }
  const [first] = lines
  // No half of a pair of units.
  const start = first?.text.slice(0, limit).replace(/[\ud800-\udbff]$/, '') ?? ''
  if (kept.length === 0 && first !== undefined) kept.push({ ...first, text: `${start}…` })
  const rest = lines.length - kept.length
  const text = rest === 0 ? '… (-v shows all)' : `… and ${rest} more lines (-v shows all)`
  return [...kept, { action: null, indent: 0, text, isRemark: true }]
}

/** Measures a line with the names of its fields in JSON. */
function measure({ text }: PageLine): number {
  return text.length + 60
}
