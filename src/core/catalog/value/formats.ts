import { findIpVersion } from './ip-version.ts'
import { parseUrl } from '../../model/text/url.ts'
import { findRegexFault } from './regex.ts'

const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i

/**
 * Tests whether a text is a domain name: ASCII, at least two labels, no IP, port, wildcard or
 * final dot.
 */
export function isDomain(text: string): boolean {
  if (text.length > 253) return false
  const labels = text.split('.')
  return (
    labels.length >= 2 &&
    labels.every((part) => labelPattern.test(part)) &&
    !/^\d+$/.test(labels.at(-1) ?? '')
  )
}

/** Tests whether a text names an accelerated domain: a domain name, or `.` and one (a wildcard). */
export function isAcceleratedDomain(text: string): boolean {
  return isDomain(isWildcard(text) ? text.slice(1) : text)
}

/**
 * Returns `. Did you mean "x"?` with the name that a text such as `https://bücher.example/` was
 * meant to be, or an empty string.
 */
export function suggestName(text: string, isValid = isAcceleratedDomain): string {
  const [, wildcard = '', rest = ''] = /^(?:[a-z]+:\/\/)?(\*?\.)?(.*)$/is.exec(text.trim()) ?? []
  const host = parseUrl(`http://${rest}`)?.hostname.replace(/\.$/, '') ?? ''
  const name = (wildcard && '.') + host
  return name !== text.toLowerCase() && isValid(name) ? `. Did you mean "${name}"?` : ''
}

/** Tests whether the name of an accelerated domain is a wildcard, of all domains below it. */
export function isWildcard(domain: string): boolean {
  return domain.startsWith('.')
}

/** Tests whether a text is a plain IPv4 or IPv6 address (no zone, octal or short form). */
export function isAddress(text: string): boolean {
  return findIpVersion(text) !== 0 && !text.includes('%')
}

/** A network that the service supports: IPv4 with /8, /16 or /24. */
export interface Network {
  /** Base address, 32 bits; host bits are cleared. */
  base: number
  prefix: 8 | 16 | 24
}

/** Parses `10.0.0.0/8`; null unless it is an IPv4 network of /8, /16 or /24. */
export function parseNetwork(text: string): Network | null {
  const match = /^([0-9.]+)\/(8|16|24)$/.exec(text)
  if (match?.[1] === undefined || findIpVersion(match[1]) !== 4) return null
  const prefix = Number(match[2]) as 8 | 16 | 24
  const bits = parseAddressBits(match[1])
  const size = 2 ** (32 - prefix)
  return { base: Math.floor(bits / size) * size, prefix }
}

/** Parses an IPv4 address to a number of 32 bits. */
export function parseAddressBits(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

/**
 * Returns the canonical spelling of an address, a network or a domain name: lower case, IPv6
 * shortened, host bits of a network cleared.
 */
export function canonicalizeAddress(text: string): string {
  const network = parseNetwork(text)
  if (network !== null) {
    const octets = [24, 16, 8, 0].map((shift) => Math.floor(network.base / 2 ** shift) % 256)
    return `${octets.join('.')}/${network.prefix}`
  }
  if (findIpVersion(text) === 6 && isAddress(text))
    return new URL(`http://[${text}]/`).hostname.slice(1, -1)
  return text.toLowerCase()
}

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Tests whether a text is an `http://` or `https://` URL with a host. */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/?#\\\s]/i.test(text) && !/\s/.test(text) && parseUrl(text) !== null
}

/** Tests whether a text is a referring host: a domain or an IP address, or `*.` before a domain. */
function isReferer(text: string): boolean {
  return isAddress(text) || isDomain(text.startsWith('*.') ? text.slice(2) : text)
}

/** Validators of the schemas' custom formats. */
export const formats = {
  domain: isDomain,
  address: (text: string) => isAddress(text) || isDomain(text),
  'ip-or-network': (text: string) => isAddress(text) || parseNetwork(text) !== null,
  'header-name': (text: string) => tokenPattern.test(text),
  'header-value': (text: string) => !/[\r\n\0]/.test(text),
  'http-url': isHttpUrl,
  'referer-host': isReferer,
  'regex-any': (text: string) => findRegexFault(text) === null,
} as const

/** Expected values of the formats, in words for messages. */
export const formatWords: Record<string, string> = {
  domain:
    'a domain name such as www.example.com (ASCII, at least two labels, no IP address, ' +
    'port or wildcard)',
  address: 'one IP address or one domain name',
  'ip-or-network': 'an IP address, or an IPv4 network that ends in /8, /16 or /24',
  'header-name': "a header name (letters, digits and !#$%&'*+.^_`|~-)",
  'header-value': 'a header value without line breaks',
  'http-url': 'a URL that begins with http:// or https:// and names a host',
  'referer-host': 'a domain or IP address without scheme, port and path, or "*." before a domain',
  'regex-any': 'a regular expression',
}
