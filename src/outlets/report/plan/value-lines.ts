import { chooseAlternative, getField } from '../../../core/catalog/value/item-schema.ts'
import {
  isSameJson,
  getOwn,
  isObject,
  type Json,
  type JsonObject,
} from '../../../core/model/json.ts'
import type { Action } from '../../../core/model/change.ts'
import type { FieldName } from '../../../core/model/item.ts'
import { isSecret } from '../../../core/model/secret.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { truncate } from '../text/wrap.ts'
import { formatDifference, maxWhole } from './difference.ts'
import { pairEntries } from './pair-entries.ts'
import { formatEntry, formatIdentity, formatValue, listFields, type Shape } from './value-text.ts'

/** Maximum width of the name of an entry of a list, and what is left of a longer one. */
const [maxLabel, shortLabel] = [40, 24]

/** Line of a value or a change: a field, or an entry of a list. */
export interface ValueLine {
  /** Null in a value that may not differ. */
  action: Action | null
  /** Name of the field, with dots between levels; empty for the item itself. */
  field: string
  text: string
  /** Names of the fields in it, of an entry of a list. */
  fields?: FieldName[]
}

/** Lists the fields of a value, one per line; lists of objects have a line for each entry. */
export function listValueLines(
  value: Json,
  shape: Shape,
  action: ValueLine['action'],
): ValueLine[] {
  return listFieldLines('', value, shape, action)
}

/** Lists the fields and the list entries in which two values differ; undefined for no value. */
export function listChangedLines(
  before: Json | undefined,
  after: Json | undefined,
  shape: Shape,
): ValueLine[] {
  return compareField('', before, after, shape)
}

function listFieldLines(
  field: string,
  value: Json,
  shape: Shape,
  action: ValueLine['action'],
): ValueLine[] {
  const schema = chooseAlternative(shape.schema, value)
  if (Array.isArray(value) && value.some(isPlainObject)) {
    const entry = { ...shape, schema: schema.items ?? {} }
    return value.flatMap((each, i) => listEntryLines(field, each, i, entry, action))
  }
  const text = formatValue(value, schema)
  const isShort = field !== '' && text.length <= 2 * maxWhole
  if (isShort || !isPlainObject(value) || Object.keys(value).length === 0)
    return [{ action, field, text }]
  return listFields(schema, value).flatMap((name) =>
    listFieldLines(
      join(field, name),
      value[name] ?? null,
      narrow({ ...shape, schema }, name),
      action,
    ),
  )
}

/** Lists an entry of a list on a line; on several if it is long. */
function listEntryLines(
  field: string,
  entry: Json,
  index: number,
  shape: Shape,
  action: ValueLine['action'],
): ValueLine[] {
  const text = formatEntry(entry, shape)
  if (!isPlainObject(entry) || text.length <= 2 * maxWhole) return [{ action, field, text }]
  const label = labelEntry(entry, index, shape)
  const names = label === formatIdentity(entry, shape.identity) ? shape.identity : []
  const lines = listFieldLines('', entry, { ...shape, identity: [] }, null)
  const others = lines.filter((line) => !names.includes(line.field))
  return packLines({ action, field, text: label }, others)
}

/** Lists fields of an entry, which has its name as its text, on as few lines as are short. */
function packLines(entry: ValueLine, lines: ValueLine[]): ValueLine[] {
  const packed: (ValueLine & { fields: FieldName[] })[] = []
  for (const line of lines) {
    const last = packed.at(-1)
    const longer = `${last?.text} · ${formatEdit(line)}`
    if (last === undefined || longer.length > maxWhole)
      packed.push({ ...entry, text: `${entry.text}: ${formatEdit(line)}`, fields: [line.field] })
    else {
      last.text = longer
      last.fields.push(line.field)
    }
  }
  return packed
}

/** Names an entry of a list: by its place, where its identity is long. */
function labelEntry(entry: Json, index: number, { identity }: Shape): string {
  const place = `entry ${index + 1}`
  const name = formatIdentity(entry, identity)
  if (name === null) return place
  return name.length <= maxLabel ? name : `${place}, ${truncate(name, shortLabel)}`
}

function compareField(
  field: string,
  before: Json | undefined,
  after: Json | undefined,
  shape: Shape,
): ValueLine[] {
  if (isSameJson(before, after)) return []
  if (before === undefined)
    return after === undefined ? [] : listFieldLines(field, after, shape, 'set')
  if (after === undefined) return listFieldLines(field, before, shape, 'unset')
  const schema = chooseAlternative(shape.schema, after)
  if (isPlainObject(before) && isPlainObject(after))
    return listFields(schema, before, after).flatMap((name) =>
      addUnit(
        compareField(
          join(field, name),
          getOwn(before, name),
          getOwn(after, name),
          narrow({ ...shape, schema }, name),
        ),
        findUnit(name, before, after),
      ),
    )
  if (Array.isArray(before) && Array.isArray(after))
    return compareLists(field, before, after, { ...shape, schema: schema.items ?? {} })
  if (typeof before === 'string' && typeof after === 'string' && /\n/.test(before + after))
    return compareTexts(field, before, after)
  return listReplaced(field, formatValue(before, schema), formatValue(after, schema))
}

/** Fields that have their unit in another field, and the words of the units. */
const unitFields = new Map<FieldName, FieldName>([
  ['time', 'timeunit'],
  ['expire', 'expire_unit'],
  ['cache_time', 'cache_unit'],
  ['min_size', 'min_size_unit'],
  ['max_rate', 'max_rate_unit'],
  ['leading_flow', 'leading_flow_unit'],
])
const unitWords = new Map([
  ...Object.entries({ Y: 'years', M: 'months', D: 'days', h: 'hours', i: 'minutes', s: 'seconds' }),
  ...['year', 'month', 'day', 'hour', 'minute', 'second'].map(
    (word) => [word, `${word}s`] as const,
  ),
])

/** Finds the unit of a field, which both objects have; null if it has none, or another one now. */
function findUnit(field: FieldName, before: JsonObject, after: JsonObject): string | null {
  const unit = getOwn(after, unitFields.get(field) ?? '')
  if (typeof unit !== 'string' || getOwn(before, unitFields.get(field) ?? '') !== unit) return null
  return unitWords.get(unit) ?? formatValue(unit)
}

function addUnit(lines: ValueLine[], unit: string | null): ValueLine[] {
  if (unit === null) return lines
  return lines.map((line) =>
    line.action === 'change' ? { ...line, text: `${line.text} ${unit}` } : line,
  )
}

/** Lists a replaced value: on one line, or around what differs on two if the values are long. */
function listReplaced(field: string, before: string, after: string): ValueLine[] {
  // The type differs, or the end of the fingerprint of a secret.
  if (before === after)
    return [{ action: 'change', field, text: `${before} → another value that is shown alike` }]
  if (before.length <= maxWhole) return [{ action: 'change', field, text: `${before} → ${after}` }]
  return listSides(field, before, after)
}

function listSides(field: string, before: string, after: string): ValueLine[] {
  const [removed, added] = formatDifference(before, after)
  const lines: ValueLine[] = [
    { action: 'unset', field, text: removed },
    { action: 'set', field, text: added },
  ]
  return lines.filter(({ text }) => text !== '')
}

/**
 * Lists removed and added lines of a text, with their numbers unless added lines replace removed
 * ones; both texts if the order of lines or the line ends differ.
 */
function compareTexts(field: string, before: string, after: string): ValueLine[] {
  const lineEnd = (before + after).includes('\r') ? '\r\n' : '\n'
  const [from, to] = [before.split(lineEnd), after.split(lineEnd)]
  const { removed, added, isReordered } = pairEntries(from, to, [])
  if (isReordered || [...from, ...to].some((line) => /[\r\n]/.test(line)))
    return listReplaced(field, formatValue(before), formatValue(after))
  const show = (lines: string[], i: number) => formatValue(lines[i] ?? '')
  if (removed.join() === added.join())
    return removed.flatMap((i) => listSides(field, show(from, i), show(to, i)))
  const list = (lines: string[], indices: number[], action: Action) =>
    indices.map((i): ValueLine => ({ action, field, text: `line ${i + 1}: ${show(lines, i)}` }))
  return [...list(from, removed, 'unset'), ...list(to, added, 'set')]
}

/** Lists removed, changed and added entries; scalars are on one line. */
function compareLists(field: string, before: Json[], after: Json[], shape: Shape): ValueLine[] {
  const found = pairEntries(before, after, shape.identity)
  const pick = (list: Json[], indices: number[]) => indices.map((i) => list[i] ?? null)
  const [removed, added] = [pick(before, found.removed), pick(after, found.added)]
  const listAll = (entries: Json[], action: Action) =>
    entries.length === 0 ? [] : listFieldLines(field, entries, toList(shape), action)
  const changed = found.pairs.flatMap(([i, j]): ValueLine[] => {
    const [from = null, to = null] = [before[i], after[j]]
    if (isSameJson(from, to)) return []
    const edits = compareField('', from, to, { ...shape, identity: [] })
    return packLines({ action: 'change', field, text: labelEntry(from, j, shape) }, edits)
  })
  const reordered: ValueLine[] = found.isReordered
    ? [{ action: 'change', field, text: formatOrder(before, after, found.pairs, shape) }]
    : []
  return [...listAll(removed, 'unset'), ...changed, ...listAll(added, 'set'), ...reordered]
}

function formatOrder(
  before: Json[],
  after: Json[],
  pairs: [number, number][],
  { identity, schema }: Shape,
): string {
  const hasNames = after.every(
    (entry) => !isPlainObject(entry) || formatIdentity(entry, identity) !== null,
  )
  if (!hasNames)
    return `new order of the ${before.length} entries: ${pairs.map(([i]) => i + 1).join(', ')}`
  const listNames = (entries: Json[]) =>
    entries.map((entry) => formatIdentity(entry, identity) ?? formatValue(entry, schema)).join(', ')
  return `new order: ${formatDifference(listNames(before), listNames(after))[1]}`
}

function formatEdit({ action, field, text }: ValueLine): string {
  const mark = action === 'set' ? '+ ' : action === 'unset' ? '- ' : ''
  return `${mark}${field === '' ? text : `${field} ${text}`}`
}

function join(field: string, name: FieldName): string {
  return (field === '' ? '' : `${field}.`) + escapeInvisible(name)
}

function toList({ schema, identity }: Shape): Shape {
  return { schema: { items: schema }, identity }
}

function narrow({ schema, identity }: Shape, field: string): Shape {
  return { schema: getField(schema, field) ?? {}, identity }
}

function isPlainObject(value: Json): value is JsonObject {
  return isObject(value) && !isSecret(value)
}
