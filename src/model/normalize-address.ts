import { parseUrl } from './parse-url.ts'

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
