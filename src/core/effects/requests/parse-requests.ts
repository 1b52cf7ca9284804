import { EdgewiseError } from '../../model/edgewise-error.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
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

/** Quotes the begin of a text. */
export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
