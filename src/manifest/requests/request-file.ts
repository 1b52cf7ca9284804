import {
  mergeEntries,
  parseEntry,
  quote,
  type RequestEntry,
  type RequestFile,
} from '../../core/effects/requests/parse-requests.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { parseJson, type Json } from '../../core/model/json.ts'
import { parseYaml } from '../yaml/yaml-file.ts'

/**
 * Parses a file of requests: a YAML or JSON list, NDJSON, or `[METHOD ]URL` a line, in which blank
 * lines and those that begin with `#` are left out. Entries may have a `count`.
 *
 * @param name name of the file, for places
 * @throws EdgewiseError `usage` for a list that is not YAML
 */
export function parseEntries(text: string, name: string): RequestEntry[] {
  const list = parseList(text, name)
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

/** Parses a list in JSON or YAML; null for lines. */
function parseList(text: string, path: string): Json[] | null {
  if (!/^\s*(?:\[|-\s)/.test(text)) return null
  const json = parseJson(text)
  if (Array.isArray(json)) return json
  const { documents, diagnostics } = parseYaml({ path, text })
  const [fault] = diagnostics
  if (fault !== undefined)
    throw new EdgewiseError('usage', `${path}:${fault.line}:${fault.column}: ${fault.detail}`)
  const value = documents[0]?.value
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
