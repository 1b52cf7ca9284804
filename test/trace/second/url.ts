/** The URL of a request (request semantics, 1). */
export interface RequestUrl {
  scheme: 'http' | 'https'
  host: string
  /** Null if it is the default port of the scheme. */
  port: number | null
  path: string
  /** Null without `?`. */
  query: string | null
}

export const defaultPorts = { http: 80, https: 443 }

function fail(reason: string): never {
  throw new Error(`bad URL: ${reason}`)
}

/**
 * Reads the URL of a request to a domain.
 *
 * @throws Error for a bad URL
 */
export function parseUrl(url: unknown, domain: string): RequestUrl {
  if (typeof url !== 'string') fail('no text')
  const match = /^(https?):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/is.exec(url)
  if (match === null) fail('it needs the form scheme://host')
  const [, scheme = '', authority = '', path = '', query] = match
  const lower = scheme.toLowerCase() === 'https' ? 'https' : 'http'
  const { host, port } = parseAuthority(authority, domain)
  return {
    scheme: lower,
    host,
    port: port === defaultPorts[lower] ? null : port,
    path: path === '' ? '/' : encode(path),
    query: query === undefined ? null : encode(query),
  }
}

function parseAuthority(authority: string, domain: string): { host: string; port: number | null } {
  const match = /^([^:@]+)(?::(\d+))?$/.exec(authority)
  if (match === null) fail('it needs a host and perhaps a port')
  const [, name = '', digits] = match
  const host = name.toLowerCase().replace(/\.$/, '')
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host)) fail('the host')
  const traced = domain.toLowerCase()
  const isTraced = traced.startsWith('.')
    ? host.endsWith(traced) && host.length > traced.length
    : host === traced
  if (!isTraced) fail('another domain')
  const port = digits === undefined ? null : Number(digits)
  if (port !== null && (port < 1 || port > 65_535)) fail('the port')
  return { host, port }
}

/** Encodes what may not stand in a URL; nothing else is changed. */
function encode(text: string): string {
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(text)) fail('control characters or a backslash')
  return text.replace(/[ "<>`]|[\u0080-\uffff]+/g, (part) =>
    part === ' ' || part.charCodeAt(0) > 127
      ? encodeURIComponent(part)
      : `%${part.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

export function writeAuthority({ host, port }: RequestUrl): string {
  return port === null ? host : `${host}:${port}`
}

export function joinQuery(path: string, query: string | null): string {
  return query === null ? path : `${path}?${query}`
}

/** Splits path and query at the first `?`. */
export function splitQuery(text: string): { path: string; query: string | null } {
  const at = text.indexOf('?')
  return at < 0
    ? { path: text, query: null }
    : { path: text.slice(0, at), query: text.slice(at + 1) }
}

export function writeUrl(url: RequestUrl): string {
  return `${url.scheme}://${writeAuthority(url)}${joinQuery(url.path, url.query)}`
}

/** The arguments of a query, in order. A name ends at the first `=`. */
export function listArguments(
  query: string | null,
): { text: string; name: string; value: string }[] {
  if (query === null) return []
  return query.split('&').map((text) => {
    const at = text.indexOf('=')
    return at < 0
      ? { text, name: text, value: '' }
      : { text, name: text.slice(0, at), value: text.slice(at + 1) }
  })
}

/** Keeps some arguments of a query in their order; without any left there is no query. */
export function filterArguments(
  query: string | null,
  keeps: (name: string) => boolean,
): string | null {
  const kept = listArguments(query).filter(({ name }) => keeps(name))
  return kept.length === 0 ? null : kept.map(({ text }) => text).join('&')
}
