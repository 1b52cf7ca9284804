import { doubtFile, journalFile, waveFile } from '../../generated/state-validators.ts'
import type { DoubtFile, JournalFile, OpenFile, WaveFile } from '../../generated/state-types.ts'
import type { Applied } from '../../model/applied.ts'
import { canonicalizeJson } from '../../model/canonical-json.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Wave } from '../store.ts'
import { acceptVersion, parseFile } from './parse-file.ts'

const upgradeWave = acceptVersion('edgewise.wave/1', waveFile, { landWithinMs: 0 })

/** An apply and its progress. */
export interface JournalEntry extends Applied {
  /** Number of its first batches, of which every write has a recorded outcome. */
  settledBatches: number
  /** Other writes whose outcome is recorded. Empty, as no batches, once the apply has ended. */
  settled: number[]
  /** From version 1: without parts, and writes that are not settled are in no count. */
  isOld?: boolean
}

/** Returns an apply without its progress. */
export function toApplied(entry: JournalEntry): Applied {
  const { settled: _settled, settledBatches: _settledBatches, isOld: _isOld, ...applied } = entry
  return applied
}

const oldFormat = 'edgewise.journal/1'
const upgradeEntry = acceptVersion('edgewise.journal/2', journalFile, { settledBatches: 0 })

/** Formats an apply's file in the journal. */
export function formatEntry({ isOld: _isOld, ...entry }: JournalEntry): string {
  const file: JournalFile = { format: journalFile.name, ...entry }
  return `${JSON.stringify(file, null, 2)}\n`
}

/**
 * Parses an apply's file.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseEntry(place: string, text: string): JournalEntry {
  let isOld = false
  const upgrade = (data: Json | undefined) => {
    if (!isObject(data) || data['format'] !== oldFormat) return upgradeEntry(data)
    isOld = true
    return { ...data, settledBatches: 0, format: journalFile.name }
  }
  const { format: _format, ...entry } = parseFile(place, text, 'journal', journalFile, upgrade)
  return isOld ? { ...entry, isOld } : entry
}

/** Formats the file that marks an apply as not ended. */
export function formatMarker(apply: string): string {
  const file: OpenFile = { format: 'edgewise.open/1', apply }
  return `${JSON.stringify(file)}\n`
}

/** Writes of an apply that may have taken effect after its process lost the lock. */
export type DoubtMark = Omit<DoubtFile, 'format'>

/** Formats a doubt mark. */
export function formatDoubt(mark: DoubtMark): string {
  const file: DoubtFile = { format: doubtFile.name, ...mark }
  return `${JSON.stringify(file)}\n`
}

/**
 * Parses a doubt mark.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseDoubt(place: string, text: string): DoubtMark {
  const { format: _format, ...mark } = parseFile(place, text, 'journal', doubtFile)
  return mark
}

/** Formats a wave's file: one line for each domain. */
export function formatWave({ before, intents, landWithinMs }: Wave): string {
  const writes = [...intents].map(
    ([id, domains]) => `    "${id}": {\n${formatDomainLines(domains, 6)}\n    }`,
  )
  return (
    `{\n  "format": "${waveFile.name}",\n  "landWithinMs": ${landWithinMs},\n` +
    `  "before": {\n${formatDomainLines(before, 4)}\n  },\n` +
    `  "intents": {\n${writes.join(',\n')}\n  }\n}\n`
  )
}

/**
 * Parses a wave's file.
 *
 * @throws EdgewiseError `record-damaged`
 */
export function parseWave(place: string, text: string): Omit<Wave, 'number'> {
  const { before, intents, landWithinMs } = parseFile(place, text, 'journal', waveFile, upgradeWave)
  return {
    before: mapItemsByDomain(before),
    intents: new Map(
      Object.entries(intents).map(([id, domains]) => [Number(id), mapItemsByDomain(domains)]),
    ),
    landWithinMs,
  }
}

function formatDomainLines(domains: Wave['before'], indent: number): string {
  const lines = Array.from(domains, ([domain, items]) => {
    const value = canonicalizeJson(toJson(Object.fromEntries(items)))
    return `${' '.repeat(indent)}${JSON.stringify(domain)}: ${value}`
  })
  return lines.join(',\n')
}

/** Converts a domain's state to JSON; the compiler checks it against the schema's type. */
function toJson(items: WaveFile['before'][string]): Json {
  return Object.fromEntries(
    Object.entries(items).map(([item, recorded]) => [item, recorded && { ...recorded }]),
  )
}

function mapItemsByDomain<T>(
  domains: Record<string, Record<string, T>>,
): Map<string, Map<string, T>> {
  return new Map(
    Object.entries(domains).map(([domain, items]) => [domain, new Map(Object.entries(items))]),
  )
}
