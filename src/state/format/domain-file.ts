import { compareKeys } from '../../core/model/lists.ts'
import type { DomainFile } from '../../core/model/generated/state-types.ts'
import { domainFile } from '../../core/model/generated/state-validators.ts'
import { isUnset, unsetState, type Domain, type ItemKey } from '../../core/model/item.ts'
import { escapeJson, type Json } from '../../core/model/json.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'
import { parseFile } from './parse-file.ts'
import type { StatePaths } from './state-paths.ts'
import type { RecordedItem, RecordedState } from '../store/store.ts'

/**
 * Formats a domain's file: one line for each item, with keys in canonical order, so that version
 * control shows the changed items.
 */
export function formatDomainFile(
  domain: Domain,
  items: ReadonlyMap<ItemKey, RecordedItem>,
): string {
  const lines = [...items]
    .toSorted(compareKeys)
    .map(([item, recorded]) => `    ${JSON.stringify(item)}: ${canonicalizeJson(toJson(recorded))}`)
  return escapeJson(
    `{\n  "format": "${domainFile.name}",\n  "domain": ${JSON.stringify(domain)},\n` +
      `  "items": {\n${lines.join(',\n')}\n  }\n}\n`,
  )
}

/** Formats the files of domains, by path; null for a domain without items, which has no file. */
export function formatDomainFiles(
  paths: StatePaths,
  domains: RecordedState,
): Map<string, string | null> {
  return new Map(
    [...domains].map(([domain, items]) => [
      paths.domain(domain),
      items.size === 0 ? null : formatDomainFile(domain, items),
    ]),
  )
}

/**
 * Parses a domain's file.
 *
 * @param place location of the file, for messages
 * @throws EdgewiseError `record-damaged`
 */
export function parseDomainFile(
  place: string,
  text: string,
): { domain: Domain; items: Map<ItemKey, RecordedItem> } {
  const { domain, items } = parseFile(place, text, 'domain', domainFile)
  return { domain, items: new Map(Object.entries(items).map(normalize)) }
}

/** Marks an item as unset whose recorded value means that. */
function normalize([item, state]: [ItemKey, RecordedItem]): [ItemKey, RecordedItem] {
  const isEmpty = state.status === 'confirmed' && isUnset(state.candidates[0] ?? null)
  return [item, isEmpty ? { ...state, ...unsetState } : state]
}

/** Converts an item's state to JSON; the compiler checks it against the schema's type. */
function toJson(recorded: DomainFile['items'][string]): Json {
  return { ...recorded }
}
