import { canonicalizeJson } from '../../model/canonical-json.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../model/json.ts'
import type { RecordedItem } from '../store.ts'

const format = 'edgewise.record/1'

/**
 * The text of a domain's file: one item a line in canonical key order, so that version control
 * shows what changed.
 */
export function formatDomainFile(
  domain: Domain,
  items: ReadonlyMap<ItemKey, RecordedItem>,
): string {
  const lines = [...items]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([item, recorded]) =>
        `    ${JSON.stringify(item)}: ${canonicalizeJson(recorded as unknown as Json)}`,
    )
  return `{\n  "format": "${format}",\n  "domain": ${JSON.stringify(domain)},\n  "items": {\n${lines.join(',\n')}\n  }\n}\n`
}

/**
 * Reads a domain's file.
 *
 * @param place where it is, for the message
 * @throws EdgewiseError `record-damaged`, naming the file and what is wrong with it.
 */
export function parseDomainFile(
  place: string,
  text: string,
): { domain: Domain; items: Map<ItemKey, RecordedItem> } {
  const { domain, items } = parseFormat(place, text, format)
  if (typeof domain !== 'string' || items === undefined || !isObject(items))
    throw createDamagedFileError(place, 'expected "domain" and "items"')
  const read = new Map<ItemKey, RecordedItem>()
  for (const [item, entry] of Object.entries(items)) {
    if (!isRecordedItem(entry))
      throw createDamagedFileError(place, `the entry "${item}" is incomplete`)
    read.set(item, entry as unknown as RecordedItem)
  }
  return { domain, items: read }
}

/**
 * The object in a file of a record.
 *
 * @throws EdgewiseError `record-damaged` when it is none, or of another format
 */
export function parseFormat(place: string, text: string, expected: string): JsonObject {
  const data = parseJson(text)
  if (data === undefined) throw createDamagedFileError(place, 'it is not JSON')
  if (!isObject(data)) throw createDamagedFileError(place, 'expected an object')
  if (data['format'] !== expected) {
    const given = typeof data['format'] === 'string' ? data['format'] : 'none'
    const newer = given.replace(/\d+$/, '') === expected.replace(/\d+$/, '')
    throw createDamagedFileError(
      place,
      `expected the format ${expected}, got ${given}${newer ? '; a newer edgewise wrote it, use that version' : ''}`,
    )
  }
  return data
}

/** What is said of a file of a record that can't be used. */
export function createDamagedFileError(place: string, what: string): EdgewiseError {
  return new EdgewiseError(
    'record-damaged',
    `the record ${place} can't be read: ${what}`,
    'Restore the file from a backup or from version control. As a last resort delete it: the domain then counts as unrecorded and is written whole by the next apply.',
  )
}

/** Whether a value is what is recorded of an item. */
export function isRecordedItem(entry: Json): boolean {
  if (!isObject(entry) || !Array.isArray(entry['candidates'])) return false
  const { status, candidates, unknown } = entry
  const counted =
    (status === 'confirmed' && candidates.length === 1) ||
    (status === 'unset' && candidates.length <= 1) ||
    (status === 'in-doubt' && (candidates.length > 0 || unknown === true))
  return (
    counted &&
    isTime(entry['at']) &&
    typeof entry['apply'] === 'string' &&
    (entry['origin'] === 'write' || entry['origin'] === 'import')
  )
}

/** Whether a value is a time, ISO 8601. */
export function isTime(value: Json | undefined): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}
