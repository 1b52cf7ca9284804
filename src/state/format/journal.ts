import type { Applied } from '../../core/model/applied.ts'
import type {
  DoubtFile,
  JournalFile,
  OpenFile,
  BatchFile,
} from '../../core/model/generated/state-types.ts'
import { doubtFile, journalFile, batchFile } from '../../core/model/generated/state-validators.ts'
import { escapeJson, formatJson, type Json } from '../../core/model/json.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'
import { formatFile, parseFile } from './parse-file.ts'
import type { Batch } from '../store/store.ts'

/** An apply and its progress. */
export type JournalEntry = Omit<JournalFile, 'format'>

/** Returns an apply without its progress. */
export function toApplied(entry: JournalEntry): Applied {
  const { settled: _settled, settledBatches: _settledBatches, ...applied } = entry
  return applied
}

/** Formats an apply's file in the journal. */
export function formatEntry(entry: JournalEntry): string {
  return formatFile(journalFile, entry, 2)
}

/** Parses an apply's file, as `parseFile` does. */
export function parseEntry(place: string, text: string): JournalEntry {
  return parseFile(place, text, 'journal', journalFile)
}

/** Formats the file that marks an apply as not ended. */
export function formatMarker(apply: string): string {
  const file: OpenFile = { format: 'edgewise.open/1', apply }
  return formatJson(file)
}

/** Writes of an apply that may have taken effect after its process lost the lock. */
export type DoubtMark = Omit<DoubtFile, 'format'>

/** Formats a doubt mark. */
export function formatDoubt(mark: DoubtMark): string {
  return formatFile(doubtFile, mark)
}

/** Parses a doubt mark, as `parseFile` does. */
export function parseDoubt(place: string, text: string): DoubtMark {
  return parseFile(place, text, 'journal', doubtFile)
}

/** Formats a batch's file: one line for each domain. */
export function formatBatch({ before, intents, landWithinMs }: Batch): string {
  const writes = [...intents].map(
    ([id, domains]) => `    "${id}": {\n${formatDomainLines(domains, 6)}\n    }`,
  )
  return escapeJson(
    `{\n  "format": "${batchFile.name}",\n  "landWithinMs": ${landWithinMs},\n` +
      `  "before": {\n${formatDomainLines(before, 4)}\n  },\n` +
      `  "intents": {\n${writes.join(',\n')}\n  }\n}\n`,
  )
}

/** Parses a batch's file, as `parseFile` does. */
export function parseBatch(place: string, text: string): Omit<Batch, 'number'> {
  const { before, intents, landWithinMs } = parseFile(place, text, 'journal', batchFile)
  return {
    before: mapItemsByDomain(before),
    intents: new Map(
      Object.entries(intents).map(([id, domains]) => [Number(id), mapItemsByDomain(domains)]),
    ),
    landWithinMs,
  }
}

function formatDomainLines(domains: Batch['before'], indent: number): string {
  const lines = Array.from(domains, ([domain, items]) => {
    const value = canonicalizeJson(toJson(Object.fromEntries(items)))
    return `${' '.repeat(indent)}${JSON.stringify(domain)}: ${value}`
  })
  return lines.join(',\n')
}

/** Converts a domain's state to JSON; the compiler checks it against the schema's type. */
function toJson(items: BatchFile['before'][string]): Json {
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
