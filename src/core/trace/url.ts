import { isDomain, suggestName } from '../catalog/value/formats.ts'

/**
 * A requested URL (request semantics, section 1). Path and query are as sent, in printable ASCII.
 */
export interface RequestUrl {
  scheme: 'http' | 'https'
  /** Lower case, without a trailing dot. */
  host: string
  /** Null for the scheme's own. */
  port: number | null
  path: string
  /** Null without `?`. */
  query: string | null
}

/** The texts that patterns see of a URL; null outside of printable ASCII. */
export interface Subjects {
  path: string | null
  /** Path and query. */
  full: string | null
}

/** A fault in what describes a request: an error, never an unknown. */
export class BadRequest extends Error {}

const hostForm = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/

/**
 * Parses a URL of a domain, or of any domain for null; `.d` stands for each host below d.
 *
 * @throws BadRequest
 */
export function parseUrl(text: string, domain: string | null): RequestUrl {
  const [bare = ''] = text.split('#', 1)
  if (/[\p{Cc}\\]/u.test(bare))
    throw new BadRequest('the URL contains a control character or a backslash')
  const parts = /^(https?):\/\/([^/?]*)(\/[^?]*)?(?:\?(.*))?$/is.exec(bare)
  if (parts === null)
    throw new BadRequest(
      `the URL must begin with http:// or https:// and a host: ${quote(text)}` +
        (isDomain(bare.replace(/[/?].*/s, '')) ? `. Did you mean "https://${bare}"?` : ''),
    )
  const [, name, authority = '', path = '/', query = null] = parts
  const scheme = name?.toLowerCase() === 'http' ? 'http' : 'https'
  const { host, port } = parseAuthority(authority, scheme)
  if (domain !== null && !belongsTo(host, domain))
    throw new BadRequest(`the host ${quote(host)} does not belong to ${domain}`)
  return { scheme, host, port, path: encode(path), query: query && encode(query) }
}

/** Tests whether a host is the domain, or one below a domain like `.example.com`. */
export function belongsTo(host: string, domain: string): boolean {
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain
}

function parseAuthority(
  authority: string,
  scheme: 'http' | 'https',
): { host: string; port: number | null } {
  const [, name = '', digits] = /^(.*?)(?::([^:]*))?$/s.exec(authority) ?? []
  const host = name.toLowerCase().replace(/\.$/, '')
  if (authority.includes('@')) throw new BadRequest('the URL has a user name or password')
  if (!hostForm.test(host))
    throw new BadRequest(
      `the URL has no valid host: ${quote(authority)}${suggestName(authority, isDomain)}`,
    )
  if (digits === undefined) return { host, port: null }
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0
  if (port < 1 || port > 65_535)
    throw new BadRequest(`the port of the URL must be 1 to 65535: ${quote(digits)}`)
  return { host, port: port === getDefaultPort(scheme) ? null : port }
}

export function getDefaultPort(scheme: 'http' | 'https'): number {
  return scheme === 'http' ? 80 : 443
}

const unsafe = /[ "<>`]|[^\0-\x7e]+/gu // oxlint-disable-line no-control-regex

/** Percent-encodes what no client sends as it is. */
function encode(text: string): string {
  return text.replace(unsafe, (part) => {
    try {
      return encodeURIComponent(part)
    } catch {
      throw new BadRequest('the URL contains an unpaired surrogate')
    }
  })
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}

/** `path[?query]` */
export function formatFull({ path, query }: Pick<RequestUrl, 'path' | 'query'>): string {
  return query === null ? path : `${path}?${query}`
}

/** `scheme://host[:port]` */
export function formatAuthority({ scheme, host, port }: RequestUrl): string {
  return `${scheme}://${host}${port === null ? '' : `:${port}`}`
}

/** Splits `path[?query]`. */
export function splitFull(full: string): { path: string; query: string | null } {
  const at = full.indexOf('?')
  return at < 0
    ? { path: full, query: null }
    : { path: full.slice(0, at), query: full.slice(at + 1) }
}

/** Path and query in the three forms of R2; one if they are equal. */
export interface Forms {
  sent: Subjects
  normalised: Subjects
  decoded: Subjects
  areEqual: boolean
}

/** Computes the forms in which patterns may see path and query (R2). */
export function buildForms(url: Pick<RequestUrl, 'path' | 'query'>): Forms {
  const full = formatFull(url)
  const sent: Subjects = { path: url.path, full }
  if (url.query !== '' && !url.path.includes('/.') && /^[ -$&-~]*$/.test(full))
    return { sent, normalised: sent, decoded: sent, areEqual: true }
  const change = (decodeText: (text: string) => string) => {
    const path = removeDotSegments(decodeText(url.path))
    return { path, full: url.query ? `${path}?${decodeText(url.query)}` : path }
  }
  const normalised = change(normalise)
  const { path, full: text } = change(decode)
  const decoded = { path: isPrintable(path) ? path : null, full: isPrintable(text) ? text : null }
  const areEqual = [normalised, decoded].every(
    (each) => each.path === sent.path && each.full === sent.full,
  )
  return { sent, normalised, decoded, areEqual }
}

/** Tests whether a text has only U+0020 to U+007E. */
export function isPrintable(text: string): boolean {
  return /^[ -~]*$/.test(text)
}

const escape = /%([0-9a-f]{2})/gi

function normalise(text: string): string {
  return text.replace(escape, (whole, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16))
    return /[A-Za-z0-9\-._~]/.test(char) ? char : whole.toUpperCase()
  })
}

/** Decodes all escapes once; bytes beyond ASCII stay what they are: not printable. */
function decode(text: string): string {
  return text.replace(escape, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Removes dot segments (RFC 3986, 5.2.4) of a path that begins with a slash. */
function removeDotSegments(path: string): string {
  const kept: string[] = []
  const segments = path.split('/').slice(1)
  segments.forEach((segment, i) => {
    const isLast = i === segments.length - 1
    if (segment === '..') kept.pop()
    if (segment !== '.' && segment !== '..') kept.push(segment)
    else if (isLast) kept.push('')
  })
  return `/${kept.join('/')}`
}

/** An argument of a query: its text, its name up to the first `=`, and its value; null without. */
export interface Argument {
  text: string
  name: string
  value: string | null
}

/** Splits a query at `&`. */
export function parseArguments(query: string | null): Argument[] {
  if (query === null) return []
  return query.split('&').map((text) => {
    const at = text.indexOf('=')
    return at < 0
      ? { text, name: text, value: null }
      : { text, name: text.slice(0, at), value: text.slice(at + 1) }
  })
}

/** Removes arguments; a query of which none is left goes as a whole. */
export function filterArguments(
  query: string | null,
  isKept: (argument: Argument, i: number) => boolean,
): string | null {
  const kept = parseArguments(query).filter(isKept)
  return kept.length === 0 ? null : kept.map(({ text }) => text).join('&')
}
