import { known, unknown, type Result } from './result.ts'
import type { World } from './trace.ts'
import { joinQuery, writeAuthority, type RequestUrl } from './url.ts'

/** W, Q and P of a URL (request semantics, 3.1). */
export type SubjectKind = 'whole-url' | 'path-and-query' | 'path'

/** Which URL a match looks at. */
export interface Source {
  url: (world: World) => Result<RequestUrl>
  /** W without the port of the URL. */
  withoutPort?: boolean
}

export const client: Source = { url: (world) => known(world.facts.url) }

/** A subject in the form that R2 gives it; undecidable, with the reason, if it has no such form. */
export function readSubject(
  world: World,
  source: Source,
  kind: SubjectKind,
  undecidable: string,
): Result<string> {
  const url = source.url(world)
  if (!url.known) return url
  const text = formSubject(world, url.value, kind, source.withoutPort ?? false)
  return text === null ? unknown(undecidable) : known(text)
}

function formSubject(
  world: World,
  url: RequestUrl,
  kind: SubjectKind,
  withoutPort: boolean,
): string | null {
  const form = world.reading('R2')
  const path = formPath(url.path, form)
  const isClear = (text: string): boolean => form !== 'decoded' || isPlain(text)
  if (!isClear(path)) return null
  if (kind === 'path') return path
  const query = url.query === null ? null : formQuery(url.query, form)
  if (query !== null && !isClear(query)) return null
  const target = joinQuery(path, query)
  if (kind === 'path-and-query') return target
  return `${url.scheme}://${withoutPort ? url.host : writeAuthority(url)}${target}`
}

/** Tests whether a text lies in U+0020–U+007E. */
export function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

function formPath(path: string, form: string): string {
  if (form === 'as-sent') return path
  return removeDotSegments(form === 'decoded' ? decode(path) : normalise(path))
}

function formQuery(query: string, form: string): string | null {
  if (form === 'as-sent') return query
  const text = form === 'decoded' ? decode(query) : normalise(query)
  return text === '' ? null : text
}

/** Decodes escapes of unreserved characters; writes other escapes in upper case. */
function normalise(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9\-._~]/.test(char) ? char : escape.toUpperCase()
  })
}

/** Decodes all escapes once, a byte to a character. */
function decode(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  )
}

/** RFC 3986, 5.2.4, for a path that begins with `/`. */
function removeDotSegments(path: string): string {
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1
    if (segment === '..') kept.pop()
    if (segment !== '.' && segment !== '..') kept.push(segment)
    else if (isLast) kept.push('')
  }
  return `/${kept.join('/')}`
}
