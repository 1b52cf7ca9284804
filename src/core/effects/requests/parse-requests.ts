import { parseAllDocuments } from 'yaml'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../model/json.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'

/** A request in the form of a trace, and how often it came. */
export interface CountedRequest {
  request: JsonObject
  count: number
}

/** An entry of a file of requests; or what was expected in its place. */
export type RequestEntry = { place: string } & (CountedRequest | { fault: string })

/** Requests of a file, equal ones merged, in the order in which they first occur. */
export interface RequestFile {
  requests: CountedRequest[]
  /** Entries that are no request. */
  skipped: number
}

/**
 * Parses a file of requests: a YAML or JSON list, NDJSON, or `[METHOD ]URL` a line, in which blank
 * lines and those that begin with `#` are left out. Entries may have a `count`.
 *
 * @param name name of the file, for places
 */
export function parseEntries(text: string, name: string): RequestEntry[] {
  const list = parseList(text)
  return list === null
    ? text.split('\n').flatMap((line, i) => parseLine(line.trim(), `${name}:${i + 1}`))
    : list.map((entry, i) => parseEntry(entry, `${name}, entry ${i + 1}`))
}

/**
 * Reads a file of requests, for which see `parseEntries`; what is no request is skipped.
 *
 * @throws EdgewiseError `usage` if there is no request
 */
export function readRequestFile(text: string, name: string): RequestFile {
  return mergeEntries(parseEntries(text, name), name)
}

/**
 * Merges equal requests, and counts what is none.
 *
 * @throws EdgewiseError `usage` if there is no request
 */
export function mergeEntries(entries: Iterable<RequestEntry>, name: string): RequestFile {
  const merged = new Map<string, CountedRequest>()
  let skipped = 0
  for (const entry of entries) {
    if ('fault' in entry) skipped++
    else {
      const key = canonicalizeJson(entry.request)
      const known = merged.get(key)
      if (known === undefined) merged.set(key, { request: entry.request, count: entry.count })
      else known.count += entry.count
    }
  }
  if (merged.size > 0) return { requests: [...merged.values()], skipped }
  throw new EdgewiseError('usage', `${name} has no request`, 'Write a URL on each line.')
}

/** Parses a list in JSON or YAML; null for lines. */
function parseList(text: string): Json[] | null {
  if (!/^\s*(?:\[|-\s)/.test(text)) return null
  const json = parseJson(text)
  if (Array.isArray(json)) return json
  const [document] = parseAllDocuments(text)
  if (document === undefined || !('contents' in document) || document.errors.length > 0) return null
  const value = document.toJS({ maxAliasCount: 0 }) as Json
  return Array.isArray(value) ? value : null
}

function parseLine(line: string, place: string): RequestEntry[] {
  if (line === '' || line.startsWith('#')) return []
  if (line.startsWith('{')) return [parseEntry(parseJson(line) ?? null, place)]
  const found = /^(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s+)?(\S+)$/.exec(line)
  if (found === null) return [{ place, fault: `expected "[METHOD ]URL", got ${quote(line)}` }]
  const [, method, url = ''] = found
  return [{ place, request: method === undefined ? { url } : { url, method }, count: 1 }]
}

/** Parses an entry of a list: a URL, or an object with one and perhaps a `count`. */
export function parseEntry(entry: Json, place: string): RequestEntry {
  if (typeof entry === 'string') return { place, request: { url: entry }, count: 1 }
  if (!isObject(entry)) return { place, fault: 'expected a URL or an object with one' }
  const { count = 1, ...request } = entry
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0)
    return { place, request, count }
  return {
    place,
    fault: `count must be a whole number from 1, got ${quote(JSON.stringify(count))}`,
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
