import { dropFields, nameFields } from '../../../core/catalog/hidden-fields.ts'
import type { Change } from '../../../core/model/change.ts'
import type { Value } from '../../../core/model/item.ts'
import { isObject } from '../../../core/model/json.ts'
import { groupBy } from '../../../core/model/lists.ts'
import type { Place } from '../../../core/model/problem.ts'
import { describeTree } from '../../../core/model/source-tree.ts'
import { formatTime, pluralize } from '../../../core/model/text/words.ts'
import { formatAge } from '../drift/text.ts'
import { shareParts, type BlockLine, type BlockPart } from '../plan/blocks.ts'
import { formatLines, listBlockLines, type PlanTextOptions } from '../plan/format-block.ts'
import { listValueLines } from '../plan/value-lines.ts'
import { findShape, formatValue } from '../plan/value-text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { wrap } from '../text/wrap.ts'
import {
  conditions,
  nameReferences,
  type Condition,
  type DomainSheet,
  type SheetItem,
} from './sheet.ts'

const words: Record<Condition, string> = {
  'in-doubt': 'in-doubt',
  differs: 'differs at the service',
  'on-hold': 'on hold',
  'never-applied': 'never applied',
  assumed: 'as recorded (assumed)',
  verified: 'as recorded',
}

/**
 * Formats what is known of a domain: its state in a sentence, what a request meets, then each item
 * with its value, the source of each field, and what differs. Defaults are named only, unless
 * `verbose`.
 *
 * @param now ms since 1970, for ages
 */
export function formatSheet(
  { sheet, told }: { sheet: DomainSheet; told: string },
  now: number,
  options: PlanTextOptions,
): string {
  const { domain, place, profiles, owners, recordedOnly, items } = sheet
  const { paint, columns } = options
  const where = [
    recordedOnly ?? (place === null ? 'no manifest declares it' : formatLine(place)),
    ...(profiles.length === 0 ? [] : [`profiles ${profiles.join(', ')}`]),
    ...(owners.length === 0 ? [] : [`owned by ${owners.join(', ')}`]),
  ].join(' · ')
  const usual = findUsual(items, describeLastChange)
  const isAll = items.every((item) => describeLastChange(item) === usual)
  const most = isAll ? (usual ?? '') : `most items ${usual}`
  const head = [
    paint.bold(escapeInvisible(domain)),
    paint.dim(wrap(escapeInvisible(where), columns, '  ')),
    ...(usual === null ? [] : [paint.dim(wrap(escapeInvisible(most), columns, '  '))]),
    wrap(summarizeSheet(sheet), columns, '  '),
  ].join('\n')
  const parts = items.map((item) => formatItem(item, usual, now, options))
  return `${[head, wrap(told, Math.min(columns, 80), ''), ...parts].join('\n\n')}\n`
}

/** Finds what is said of most items, which is shown once; null if no two share it. */
export function findUsual(
  items: SheetItem[],
  describe: (item: SheetItem) => string | null,
): string | null {
  const groups = [
    ...groupBy(
      items.flatMap((item) => describe(item) ?? []),
      (text) => text,
    ),
  ]
  const [largest] = groups.toSorted(([, a], [, b]) => b.length - a.length)
  return largest === undefined || largest[1].length < 2 ? null : largest[0]
}

/** Describes in a sentence how the items of a domain are. */
export function summarizeSheet({ items, recordedOnly }: DomainSheet): string {
  const sorted = conditions.flatMap((condition) =>
    items.filter((each) => each.condition === condition),
  )
  const counts = Array.from(groupBy(sorted, nameState), ([word, same]) => `${same.length} ${word}`)
  const isPending = recordedOnly !== null || items.some((each) => each.pending !== null)
  const all = isPending ? counts : [...counts, 'nothing pending']
  return `${pluralize(items.length, 'item')}: ${all.join(', ')}.`
}

/** Describes how sure the state of an item is, and how old. */
export function describeCondition(item: SheetItem, now: number): string {
  const { condition, changed } = item
  if (changed === null) return nameState(item)
  const age = formatAge(now - Date.parse(changed.at))
  const since = condition === 'in-doubt' ? `since ${age}` : `confirmed ${age} ago`
  return `${nameState(item)}, ${since}`
}

/** Names the state of an item, with a remark. What is as recorded, and desired otherwise, waits. */
function nameState({ condition, pending, refused }: SheetItem): string {
  const isSettled = condition === 'verified' || condition === 'assumed'
  if (pending === null || (!isSettled && condition !== 'never-applied')) return words[condition]
  const state = refused === null ? 'pending' : 'refused'
  return condition === 'never-applied' ? `${state} (never applied)` : state
}

/** Describes when an item was changed, by whom and from which commit; null if it never was. */
export function describeLastChange({ changed }: SheetItem): string | null {
  if (changed === null) return null
  const { apply, origin, at, author } = changed
  const tree = describeTree(changed)
  return [
    `${origin === 'import' ? 'imported' : 'written'} ${formatTime(at)}`,
    ...(author === null ? [] : [`by ${author}`]),
    ...(tree === null ? [] : [tree]),
    `${origin === 'import' ? 'import' : 'apply'} ${apply}`,
  ].join(' · ')
}

function formatItem(
  item: SheetItem,
  usual: string | null,
  now: number,
  options: PlanTextOptions,
): string {
  const { paint, columns } = options
  const colour = chooseColour(item, paint)
  const change = describeLastChange(item)
  const remarks = listRemarks(item)
  return [
    `${paint.bold(escapeInvisible(item.item))}  ${colour(describeCondition(item, now))}`,
    ...(change === null || change === usual
      ? []
      : [paint.dim(wrap(escapeInvisible(change), columns, '  '))]),
    ...formatPart(listItemLines(item, options.verbose), item, options),
    ...remarks.map((remark) => paint.yellow(wrap(escapeInvisible(remark), columns, '  '))),
    ...formatChange(describePending(item), item.pending, options),
    ...formatChange('at the service: it has this value', item.live, options),
  ].join('\n')
}

/** Describes what makes a pending value so. */
export function describePending({ hold, refused }: SheetItem): string {
  if (refused !== null) return `refused: ${refused}`
  return hold === null
    ? 'pending: the next apply makes it so'
    : `on hold ${hold}. Only "edgewise apply --retry-held" sends it again`
}

/** Formats a place without its column: `domains/www.yaml:3`. */
export function formatLine({ file, line }: Place): string {
  return `${file}:${line}`
}

function chooseColour({ condition }: SheetItem, paint: Paint): (text: string) => string {
  if (condition === 'verified') return paint.green
  return condition === 'assumed' || condition === 'never-applied' ? paint.dim : paint.yellow
}

/** Lists what else there is to know of an item. */
export function listRemarks(item: SheetItem): string[] {
  const { isReleased, unreadable, ignored, candidates, recorded } = item
  const { status, unknown, returned, unknownFields = [] } = recorded ?? {}
  const format = (value: Value) => formatValue(value, findShape(item.item).schema)
  const maybe = [
    ...candidates.map((each) => format(dropFields(each, unknownFields))),
    ...(unknown === true ? ['a value that was never recorded'] : []),
  ]
  return [
    ...(isReleased ? ['no manifest has it'] : []),
    ...(unreadable === null ? [] : [`the observed value can't be read: ${unreadable}`]),
    ...(ignored === null ? [] : [`its difference is ignored: ${ignored}`]),
    ...(status === 'in-doubt' && maybe.length > 1
      ? maybe.map((text, i) => `${i === 0 ? 'the service has' : 'or'} ${text}`)
      : []),
    ...(unknownFields.length > 0 ? [`not known: ${nameFields(unknownFields).join(', ')}`] : []),
    ...(returned === undefined ? [] : [`the service answered ${format(returned)}`]),
  ]
}

/** A line of a value, and the source of its field; empty if that is shown with another line. */
export interface ItemLine extends BlockLine {
  source: string
}

/** Lists the lines of the value: fields with their sources, then the names of defaults. */
export function listItemLines(
  { item, value, kept, candidates, recorded, pending, sources }: SheetItem,
  isWhole: boolean,
): ItemLine[] {
  const unknown = recorded?.unknownFields ?? []
  const [known] = candidates.map((each) => dropFields(each, unknown))
  // The manifests name none of the unknown fields, for which nothing is sent.
  const own = unknown.length > 0 && pending === null ? known : value
  const shown = isObject(own) ? { ...own, ...kept } : (own ?? known)
  if (shown === undefined) return [{ action: null, field: '', text: '(unset)', source: '' }]
  const places = new Map(sources.map(({ field, place }) => [field, place]))
  const lines: ItemLine[] = []
  const defaults: string[] = []
  for (const line of listValueLines(nameReferences(shown), findShape(item), null)) {
    const place = places.get(line.field)
    if (place === null && !isWhole) {
      defaults.push(`${line.field} ${line.text}`)
      continue
    }
    const keptText = Object.hasOwn(kept, line.field) ? 'recorded, in no manifest' : ''
    const source = place === undefined ? keptText : place === null ? 'default' : formatLine(place)
    lines.push({ ...line, source })
  }
  if (defaults.length > 0)
    lines.push({ action: null, field: 'defaults', text: defaults.join(' · '), source: '' })
  return lines
}

function formatPart(all: ItemLine[], { item }: SheetItem, options: PlanTextOptions): string[] {
  const lines = all.map(({ source, ...line }): BlockLine => ({
    ...line,
    text: source === '' ? line.text : `${line.text}  [${source}]`,
  }))
  const part: BlockPart = { item, action: 'set', note: '', isDestructive: false, lines }
  return formatLines(listBlockLines({ domains: [''], parts: [part] }, options, 4), options)
}

function formatChange(title: string, change: Change | null, options: PlanTextOptions): string[] {
  if (change === null) return []
  const parts = shareParts([change]).map(({ part }) => part)
  const lines = formatLines(listBlockLines({ domains: [''], parts }, options, 6), options)
  return [`  ${options.paint.yellow(title)}`, ...lines]
}
