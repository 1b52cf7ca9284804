import { isIPv4 } from 'node:net'

/**
 * Parses an absolute URL; null if the text is not one. `URL.canParse` is not used: that of Node 20
 * returns false for a valid URL with letters such as "ü" after some thousand calls.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/**
 * Reports whether a host is this machine by its name alone: `localhost`, `127.0.0.0/8` or `::1`.
 * Other names, such as `api.localhost` and `localhost.`, are resolved by DNS and may be anywhere.
 *
 * @param hostname as spelled by `URL`, which writes `0x7f.1` as `127.0.0.1`
 */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true
  return hostname.startsWith('127.') && isIPv4(hostname)
}

/**
 * Normalizes the address of a service, so that all spellings of one address are equal: case of
 * scheme and host, international host names, default port, final dot of the host, dot segments,
 * percent-encoding, slashes at the end. Any other text, such as `emulator`, is returned unchanged.
 */
export function normalizeAddress(address: string): string {
  const parsed = parseUrl(address)
  if (parsed === null) return address
  const { protocol, hostname, port, pathname } = parsed
  const host = hostname.replace(/(?<=.)\.$/, '')
  const path = pathname.replace(/%[0-9a-f]{2}/gi, normalizePercent).replace(/(?<!\/)\/+$/, '')
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`
}

/** Decodes a percent-encoded character that needs no encoding (RFC 3986, section 6.2.2). */
function normalizePercent(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase()
}
