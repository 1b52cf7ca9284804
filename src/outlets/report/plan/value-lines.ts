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
import { pairEntries } from './pair-entries.ts'
import { formatEntry, formatIdentity, formatValue, listFields, type Shape } from './value-text.ts'

/** Length of two values up to which they are on one line. */
const maxInline = 100

/** Line of a value or a change: a field, or an entry of a list. */
export interface ValueLine {
  /** Null in a value that may not differ. */
  action: Action | null
  /** Name of the field, with dots between levels; empty for the item itself. */
  field: string
  text: string
}

/** Lists the fields of a value, one per line; lists of objects have a line for each entry. */
export function listValueLines(
  value: Json,
  shape: Shape,
  action: ValueLine['action'],
): ValueLine[] {
  return listFieldLines('', value, shape, action)
}

/** Lists the fields and the list entries in which two values differ. */
export function listChangedLines(before: Json, after: Json, shape: Shape): ValueLine[] {
  return compareField('', before, after, shape)
}

function listFieldLines(
  field: string,
  value: Json,
  shape: Shape,
  action: ValueLine['action'],
): ValueLine[] {
  const schema = chooseAlternative(shape.schema, value)
  if (field === '' && isPlainObject(value) && Object.keys(value).length > 0)
    return listFields(schema, value).flatMap((name) =>
      listFieldLines(escapeInvisible(name), value[name] ?? null, narrow(shape, name), action),
    )
  if (!Array.isArray(value) || !value.some(isPlainObject))
    return [{ action, field, text: formatValue(value, schema) }]
  const entry = { ...shape, schema: schema.items ?? {} }
  return value.map((each) => ({ action, field, text: formatEntry(each, entry) }))
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
          (field === '' ? '' : `${field}.`) + escapeInvisible(name),
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

/** Lists a replaced value: on one line, or on two if both values are long. */
function listReplaced(field: string, before: string, after: string): ValueLine[] {
  // The type differs, or the end of the fingerprint of a secret.
  if (before === after)
    return [{ action: 'change', field, text: `${before} → another value that is shown alike` }]
  if (Math.min(before.length, after.length) <= maxInline)
    return [{ action: 'change', field, text: `${before} → ${after}` }]
  return [
    { action: 'unset', field, text: before },
    { action: 'set', field, text: after },
  ]
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
  const isInPlace = removed.join() === added.join()
  const list = (lines: string[], indices: number[], action: Action) =>
    indices.map((i): ValueLine => {
      const text = formatValue(lines[i] ?? '')
      return { action, field, text: isInPlace ? text : `line ${i + 1}: ${text}` }
    })
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
    const label = formatIdentity(from, shape.identity) ?? `entry ${j + 1}`
    const edits = compareField('', from, to, { ...shape, identity: [] }).map(formatEdit)
    return [{ action: 'change', field, text: `${label}: ${edits.join(' · ')}` }]
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
  const names = after.map((entry) => formatIdentity(entry, identity) ?? formatValue(entry, schema))
  return `new order: ${names.join(', ')}`
}

function formatEdit({ action, field, text }: ValueLine): string {
  const mark = action === 'set' ? '+ ' : action === 'unset' ? '- ' : ''
  return `${mark}${field === '' ? text : `${field} ${text}`}`
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
