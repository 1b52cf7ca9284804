import { isSameJson } from '../../model/canonical-json.ts'
import { isObject, type Json } from '../../model/json.ts'
import { isSecret } from '../../model/secret.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/**
 * One line of what an item holds or how it changes: a field's name (`''` for the item itself) and
 * its text.
 */
export interface ValueLine {
  field: string
  /** What was there, where that is shown beside the new value. */
  before: string | null
  after: string
}

/** The fields of a value, one a line; longer lists take a line for each entry. */
export function listValueLines(value: Json): ValueLine[] {
  if (!isObject(value) || isSecret(value)) return listLines('', value)
  return Object.entries(value).flatMap(([field, content]) => listLines(field, content))
}

/** The fields in which two values differ; of lists, the entries that go and come. */
export function listChangedFields(before: Json, after: Json): ValueLine[] {
  if (!isObject(before) || !isObject(after) || isSecret(before) || isSecret(after))
    return fieldChange('', before, after)
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return fields.flatMap((field) => fieldChange(field, before[field], after[field]))
}

function listLines(field: string, value: Json): ValueLine[] {
  if (!Array.isArray(value) || value.every((entry) => !isObject(entry) || isSecret(entry)))
    return [{ field, before: null, after: formatValue(value) }]
  return value.map((entry, i) => ({
    field: i === 0 ? field : '',
    before: null,
    after: `- ${formatValue(entry)}`,
  }))
}

function fieldChange(
  field: string,
  before: Json | undefined,
  after: Json | undefined,
): ValueLine[] {
  if (isSameJson(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    const gone = before.filter((entry) => !after.some((other) => isSameJson(other, entry)))
    const come = after.filter((entry) => !before.some((other) => isSameJson(other, entry)))
    const lines = [
      ...gone.map((entry) => `- ${formatValue(entry)}`),
      ...come.map((entry) => `+ ${formatValue(entry)}`),
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

/**
 * A value on one line, as YAML would have it: plain words bare, objects and lists in flow style.
 */
export function formatValue(value: Json): string {
  if (isSecret(value)) return secretWords(value.$secret)
  if (typeof value === 'string')
    return /^[\w.*/:@$%+,;=?&~^()|!#'<>{}\\-][^\n]*$/.test(value) && !/^\s|\s$/.test(value)
      ? escapeInvisible(value)
      : escapeInvisible(JSON.stringify(value))
  if (Array.isArray(value))
    return value.length === 0 ? '(empty)' : value.map(formatValue).join(', ')
  if (isObject(value)) {
    return Object.entries(value)
      .map(
        ([key, field]) =>
          `${escapeInvisible(key)} ${Array.isArray(field) || (isObject(field) && !isSecret(field)) ? `(${formatValue(field)})` : formatValue(field)}`,
      )
      .join(' · ')
  }
  return String(value)
}

function secretWords(fingerprint: string): string {
  if (fingerprint.startsWith('unresolved:'))
    return `(secret ${escapeInvisible(fingerprint.slice('unresolved:'.length))}, value not at hand)`
  return `(secret ${fingerprint.slice('scrypt:'.length, 'scrypt:'.length + 8)})`
}
