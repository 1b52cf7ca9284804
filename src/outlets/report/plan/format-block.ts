import { findMax, groupBy } from '../../../core/model/lists.ts'
import { symbols, type Action } from '../../../core/model/change.ts'
import type { Domain } from '../../../core/model/item.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { hardBlank, wrap } from '../text/wrap.ts'
import type { Block, BlockLine, BlockPart } from './blocks.ts'
import { formatCount, pluralize } from '../../../core/model/text/words.ts'

/** Style of changes as text. */
export interface PlanTextOptions {
  paint: Paint
  /** Width of the terminal; Infinity for text that does not wrap. */
  columns: number
  /** List every domain and change, and show values whole. */
  verbose: boolean
  /** Name of the output that shows everything, for a note on what is folded. Default: `-v`. */
  whole?: string
  /** Maximum lines of an item. Default: 16. */
  maxFields?: number
  /** Repeat the summary at the end of a long plan; a terminal shows that end. */
  repeatsSummary?: boolean
}

/** Line of a block. */
export interface MarkedLine {
  action: Action | null
  indent: number
  text: string
  /** A remark or the names of domains, a warning, or the continuation of a field. */
  kind?: 'remark' | 'warning' | 'continued'
}

/** Maximum lines of a value, also after its cut, and of values that differ by domain. */
const [maxLines, lastLines, maxVariants] = [8, 2, 8]
/** Length of a line after which a list breaks where other text does not wrap. */
const longLine = 1000

/** Breaks a long list before an entry. */
function breakList(text: string): string {
  let length = 0
  const place = (entry: string) => {
    const isFull = length >= longLine
    length = isFull ? entry.length : length + entry.length
    return isFull ? `\n${entry.trimStart()}` : entry
  }
  return text
    .split(/(?<=,)/)
    .map(place)
    .join('')
}

/** Returns the columns for what is folded or aligned: text that does not wrap has no limit. */
function measureRoom(columns: number): number {
  return columns === Infinity ? 110 : columns
}

/** Formats a block for a terminal: the title, then what changes, then the domains. */
export function formatBlock(block: Block, options: PlanTextOptions): string {
  const lines = listBlockLines(block, options, 4)
  return [formatTitle(block, options), ...formatLines(lines, options)].join('\n')
}

/** Formats the lines of a block for a terminal. */
export function formatLines(lines: MarkedLine[], { paint }: Pick<PlanTextOptions, 'paint'>) {
  const colours = selectColours(paint)
  return lines.map(({ action, indent, text, kind }) => {
    const blank = ' '.repeat(indent)
    if (kind === 'remark') return blank + paint.dim(text)
    if (kind === 'warning') return blank + paint.red(text)
    if (kind === 'continued' || action === null) return blank + text
    return `${blank.slice(2)}${colours[action](symbols[action])} ${text}`.trimEnd()
  })
}

/** Selects the colours of the actions. */
export function selectColours(paint: Paint): Record<Action, (text: string) => string> {
  return { set: paint.green, change: paint.yellow, unset: paint.red, release: paint.cyan }
}

/** Formats `~ https   39 domains`, or the domains alone if several of their items change. */
function formatTitle({ domains, parts }: Block, { paint }: PlanTextOptions): string {
  const whom = formatDomainCount(domains)
  const [part, ...others] = parts
  if (part === undefined || others.length > 0) return paint.bold(whom)
  const symbol = selectColours(paint)[part.action](symbols[part.action])
  return `${symbol} ${paint.bold(escapeInvisible(part.item))}   ${whom}${formatVariants(part)}`
}

/** Formats the number of domains, or the name of a single one. */
export function formatDomainCount(domains: Domain[]): string {
  return domains.length === 1
    ? escapeInvisible(domains[0] ?? '')
    : pluralize(domains.length, 'domain')
}

/** Formats the number of values of a block whose values differ by domain. */
export function formatVariants({ lines }: BlockPart): string {
  return hasVariants(lines)
    ? `, ${formatCount(lines.filter((line) => line.domains !== undefined).length)} different values`
    : ''
}

/** Lists the lines below the title of a block. `indent` is the column of the fields. */
export function listBlockLines(
  { domains, parts }: Block,
  options: PlanTextOptions,
  indent: number,
): MarkedLine[] {
  const names =
    domains.length === 1 || parts.some(({ lines }) => hasVariants(lines))
      ? []
      : listNames(domains, options, indent)
  const [part] = parts
  if (parts.length === 1 && part !== undefined)
    return [...listNote(part, options, indent), ...listPartLines(part, options, indent), ...names]
  return [
    ...names,
    ...parts.flatMap((each) => {
      const item = escapeInvisible(each.item)
      const text = each.note === '' ? item : `${item}  ${each.note}`
      const fits = !each.isDestructive && indent + measureWidth(text) <= options.columns
      return [
        { action: each.action, indent, text: fits ? text : item },
        ...(fits ? [] : listNote(each, options, indent + 2)),
        ...listPartLines(each, options, indent + 2),
      ]
    }),
  ]
}

function listNote(
  { note, isDestructive }: BlockPart,
  { columns }: PlanTextOptions,
  indent: number,
) {
  if (note === '') return []
  return wrapRemark(note, columns, indent).map((line): MarkedLine => ({
    ...line,
    ...(isDestructive ? { kind: 'warning' } : {}),
  }))
}

function listPartLines(part: BlockPart, options: PlanTextOptions, indent: number): MarkedLine[] {
  const variants = part.lines.filter(({ domains }) => domains !== undefined)
  const others = part.lines.filter(({ domains }) => domains === undefined)
  const { verbose, whole = '-v', maxFields = 16 } = options
  const [first, rest] = [selectFirst(others, maxFields), selectFirst(variants, maxVariants)]
  const shown = verbose ? part.lines : [...first, ...rest]
  const room = {
    indent,
    width: findMax(
      shown.map(({ field }) => measureWidth(field)),
      0,
    ),
    text: findMax(
      rest.map(({ text }) => Math.min(measureWidth(text), (measureRoom(options.columns) * 2) / 3)),
      0,
    ),
  }
  const lines = shown.flatMap((line) => listFieldLines(line, room, options))
  if (shown.length === part.lines.length) return lines
  const folded = variants.slice(rest.length)
  const domains = folded.flatMap((line) => line.domains ?? []).length
  const names = new Set(others.flatMap(listFieldNames))
  for (const name of first.flatMap(listFieldNames)) names.delete(name)
  const named = names.size === 0 ? '' : `: ${[...names].join(', ')}`
  const count = others.length - first.length
  const what = [
    ...(count > 0 ? [pluralize(count, 'more line') + named] : []),
    ...(folded.length > 0
      ? [`${formatCount(folded.length)} more values on ${formatCount(domains)} domains`]
      : []),
  ].join(', ')
  const hint = `(${whole} shows all)`.replaceAll(' ', hardBlank)
  return [...lines, ...wrapRemark(`… ${what} ${hint}`, options.columns, indent)]
}

/** Selects lines of each field and action, the first of each; all if only one more remains. */
function selectFirst(lines: BlockLine[], max: number): BlockLine[] {
  if (lines.length <= max + 1) return lines
  const groups = [
    ...groupBy(lines, (line) => `${line.action} ${listFieldNames(line).join(' ')}`).values(),
  ]
  const share = Math.ceil(max / groups.length)
  const first = new Set(groups.flatMap((same) => same.slice(0, share)).slice(0, max))
  return lines.filter((line) => first.has(line))
}

/** Lists the names of the fields that a line shows; an empty one is that of the item itself. */
export function listFieldNames({ field, fields }: BlockLine): string[] {
  return fields ?? [field]
}

function listFieldLines(
  { action, field, text, domains }: BlockLine,
  room: { width: number; text: number; indent: number },
  options: PlanTextOptions,
): MarkedLine[] {
  const { columns, verbose, whole = '-v', paint } = options
  const head = room.width === 0 ? '' : `${pad(field, room.width)}  `
  // Without a name of a field, a line that continues must not look like another entry.
  const hanging = ' '.repeat(head.length === 0 ? 2 : head.length)
  const parts = columns === Infinity ? breakList(text) : text
  const wrapped = wrap(parts, columns - room.indent, hanging).split('\n')
  const shown =
    verbose || wrapped.length <= maxLines
      ? wrapped
      : [
          ...wrapped.slice(0, maxLines - lastLines),
          `${hanging}… (${whole} shows all)`,
          ...wrapped.slice(-lastLines),
        ]
  const lines = shown.map((line, i): MarkedLine =>
    i === 0
      ? { action, indent: room.indent, text: `${head}${line.slice(hanging.length)}` }
      : { action, indent: room.indent, text: line, kind: 'continued' },
  )
  if (domains === undefined) return lines
  const name = escapeInvisible(domains[0] ?? '')
  const names = domains.length === 1 ? name : `${pluralize(domains.length, 'domain')}, e.g. ${name}`
  const [first] = lines
  const padded = `${pad(first?.text ?? '', measureWidth(head) + room.text)}  `
  if (lines.length === 1 && !verbose && room.indent + measureWidth(padded + names) <= columns)
    return [{ action, indent: room.indent, text: padded + paint.dim(names) }]
  const below = room.indent + hanging.length
  return [
    ...lines,
    ...(verbose ? listNames(domains, options, below) : wrapRemark(names, columns, below)),
  ]
}

/**
 * Lists the names of domains: all if they fit into two lines, else the first that fit into one.
 */
function listNames(domains: Domain[], options: PlanTextOptions, indent: number): MarkedLine[] {
  const { columns, verbose, whole = '-v' } = options
  const room = measureRoom(columns) - indent
  const toLines = (text: string) => wrapRemark(text, columns, indent)
  const names = domains.map(escapeInvisible)
  if (verbose) return toLines(names.join(', '))
  // Longer lists don't fit in any terminal.
  const all = names.length <= 100 ? toLines(names.join(', ')) : []
  if (all.length === 1 || all.length === 2) return all
  const format = (count: number) =>
    `${names.slice(0, count).join(', ')} … and ${formatCount(names.length - count)} more ` +
    `(${whole} lists them)`.replaceAll(' ', hardBlank)
  let count = 1
  while (count + 1 < names.length && measureWidth(format(count + 1)) <= room) count++
  return toLines(format(count))
}

function wrapRemark(text: string, columns: number, indent: number): MarkedLine[] {
  return wrap(text, columns - indent, '')
    .replaceAll(hardBlank, ' ')
    .split('\n')
    .map((line) => createRemark(line, indent))
}

function createRemark(text: string, indent: number): MarkedLine {
  return { action: null, indent, text, kind: 'remark' }
}

function hasVariants(lines: BlockLine[]): boolean {
  return lines.some(({ domains }) => domains !== undefined)
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - measureWidth(text)))
}
