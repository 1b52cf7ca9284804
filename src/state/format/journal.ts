import { applyOutcomes, type Applied } from '../../model/applied.ts'
import { canonicalizeJson } from '../../model/canonical-json.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { createDamagedFileError, isRecordedItem, isTime, parseFormat } from './domain-file.ts'
import type { RecordedState, RecordedItem, Wave } from '../store.ts'

/**
 * An apply with the writes of which it is recorded what came of them; an apply that is over needs
 * none.
 */
export interface JournalEntry extends Applied {
  settled: number[]
}

const entryFormat = 'edgewise.journal/1'
const waveFormat = 'edgewise.wave/1'

/** The text of an apply's file in the journal. */
export function formatEntry(entry: JournalEntry): string {
  return `${JSON.stringify({ format: entryFormat, ...entry }, null, 2)}\n`
}

/**
 * Reads an apply's file.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseEntry(place: string, text: string): JournalEntry {
  const { format: _format, ...entry } = parseFormat(place, text, entryFormat)
  const { id, startedAt, endedAt, commit, author, writes, outcome, settled } = entry
  const counted =
    isObject(writes ?? null) &&
    ['confirmed', 'refused', 'inDoubt', 'notSent'].every((name) =>
      isCount((writes as JsonObject)[name]),
    )
  const known =
    typeof id === 'string' &&
    isTime(startedAt) &&
    (endedAt === null || isTime(endedAt)) &&
    [commit, author].every((name) => name === null || typeof name === 'string') &&
    applyOutcomes.some((word) => word === outcome)
  if (!known || !counted || !Array.isArray(settled) || !settled.every(isCount))
    throw createDamagedFileError(place, 'it is incomplete')
  return entry as unknown as JournalEntry
}

/** The text of a wave's file: one domain a line. */
export function formatWave({ before, intents }: Wave): string {
  const writes = [...intents].map(
    ([id, domains]) => `    "${id}": {\n${domainLines(domains, 6)}\n    }`,
  )
  return `{\n  "format": "${waveFormat}",\n  "before": {\n${domainLines(before, 4)}\n  },\n  "intents": {\n${writes.join(',\n')}\n  }\n}\n`
}

/**
 * Reads a wave's file.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseWave(place: string, text: string): Pick<Wave, 'before' | 'intents'> {
  const { before, intents } = parseFormat(place, text, waveFormat)
  if (!isObject(before ?? null) || !isObject(intents ?? null))
    throw createDamagedFileError(place, 'expected "before" and "intents"')
  const writes = Object.entries(intents as JsonObject).map(
    ([id, domains]): [number, RecordedState] => [
      Number(id),
      itemsByDomain(place, domains, isRecordedItem) as RecordedState,
    ],
  )
  return {
    before: itemsByDomain(place, before, (item) => item === null || isRecordedItem(item)),
    intents: new Map(writes),
  }
}

function domainLines(domains: Wave['before'], indent: number): string {
  return [...domains]
    .map(
      ([domain, items]) =>
        `${' '.repeat(indent)}${JSON.stringify(domain)}: ${canonicalizeJson(Object.fromEntries(items) as unknown as Json)}`,
    )
    .join(',\n')
}

function itemsByDomain(
  place: string,
  data: Json | undefined,
  fits: (item: Json) => boolean,
): Map<Domain, Map<ItemKey, RecordedItem | null>> {
  if (data === undefined || !isObject(data))
    throw createDamagedFileError(place, 'expected items by domain')
  return new Map(
    Object.entries(data).map(([domain, items]) => {
      if (!isObject(items) || !Object.values(items).every(fits))
        throw createDamagedFileError(place, `what it says of ${domain} is incomplete`)
      return [
        domain,
        new Map(Object.entries(items as unknown as Record<ItemKey, RecordedItem | null>)),
      ]
    }),
  )
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
