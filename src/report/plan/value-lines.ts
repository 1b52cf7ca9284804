import { isSameJson } from '../../model/canonical-json.ts'
import { isObject, type Json } from '../../model/json.ts'
import { findNewReference, findReference, isSecret } from '../../model/secret.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Line of a value or a change: the field's name (`''` for the item itself) and its text. */
export interface ValueLine {
  field: string
  /** Value before the change; null if it is not shown. */
  before: string | null
  after: string
}

/** Lists the fields of a value, one per line; lists of objects have a line for each entry. */
export function listValueLines(value: Json): ValueLine[] {
  if (!isObject(value) || isSecret(value)) return listFieldLines('', value)
  return Object.entries(value).flatMap(([field, content]) =>
    listFieldLines(escapeInvisible(field), content),
  )
}

/** Lists the fields in which two values differ; for lists, the removed and added entries. */
export function listChangedFields(before: Json, after: Json): ValueLine[] {
  if (!isObject(before) || !isObject(after) || isSecret(before) || isSecret(after))
    return listFieldChange('', before, after)
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return fields.flatMap((field) =>
    listFieldChange(escapeInvisible(field), before[field], after[field]),
  )
}

function listFieldLines(field: string, value: Json): ValueLine[] {
  if (!Array.isArray(value) || value.every((entry) => !isObject(entry) || isSecret(entry)))
    return [{ field, before: null, after: formatValue(value) }]
  return value.map((entry, i) => ({
    field: i === 0 ? field : '',
    before: null,
    after: `- ${formatValue(entry)}`,
  }))
}

function listFieldChange(
  field: string,
  before: Json | undefined,
  after: Json | undefined,
): ValueLine[] {
  if (isSameJson(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const removed = before.filter((entry) => !after.some((other) => isSameJson(other, entry)))
    const added = after.filter((entry) => !before.some((other) => isSameJson(other, entry)))
    const lines = [
      ...removed.map((entry) => `- ${formatValue(entry)}`),
      ...added.map((entry) => `+ ${formatValue(entry)}`),
    ]
    const texts = lines.length > 0 ? lines : [`order: ${after.map(formatValue).join(', ')}`]
    return texts.map((text, i) => ({ field: i === 0 ? field : '', before: null, after: text }))
  }
  return [
    {
      field,
      before: before === undefined ? '(none)' : formatValue(before),
      after: after === undefined ? '(none)' : formatValue(after),
    },
  ]
}

/** Formats a value on one line: plain words without quotes, lists and objects inline. */
export function formatValue(value: Json): string {
  if (isSecret(value)) return formatSecret(value.$secret)
  if (typeof value === 'string')
    return /^[\w.*/:@$%+,;=?&~^()|!#'<>{}\\-][^\n]*$/.test(value) && !/^\s|\s$/.test(value)
      ? escapeInvisible(value)
      : escapeInvisible(JSON.stringify(value))
  if (Array.isArray(value))
    return value.length === 0 ? '(empty)' : value.map(formatValue).join(', ')
  if (isObject(value)) {
    return Object.entries(value)
      .map(([key, field]) => {
        const nested = Array.isArray(field) || (isObject(field) && !isSecret(field))
        return `${escapeInvisible(key)} ${nested ? `(${formatValue(field)})` : formatValue(field)}`
      })
      .join(' · ')
  }
  return String(value)
}

function formatSecret(fingerprint: string): string {
  const reference = findReference(fingerprint)
  if (reference !== null) return `(secret ${escapeInvisible(reference)}, value not available)`
  const fresh = findNewReference(fingerprint)
  if (fresh !== null) return `(secret ${escapeInvisible(fresh)}, new)`
  return escapeInvisible(`(secret ${fingerprint.replace(/^scrypt:(s1:)?/, '').slice(0, 8)})`)
}
