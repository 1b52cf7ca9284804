import { isLoopback } from '../model/loopback.ts'
import { parseUrl } from '../model/parse-url.ts'

/**
 * Parameters that an address may have. Others would change where and how the client connects:
 * `host`, `password`, `options`, `uselibpqcompat` …
 */
const parameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/** Modes with which the client verifies the certificate and its host name. */
const verifying = ['verify-full', 'verify-ca', 'require']

const form =
  'expected an address such as postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full, ' +
  'without blanks. In a password, "%", "/", "@", ":", "?" and "#" are percent-encoded: "@" is %40.'

/**
 * Finds the fault of a database's address. It may contain a password, so the text does not show it.
 *
 * @param written the address before the environment was replaced
 * @returns null if there is none
 */
export function findAddressFault(url: string, written: string): string | null {
  const parsed = parseUrl(url)
  // URL parsers drop some blanks and control characters.
  const isPlain = /^postgres(?:ql)?:\/\//i.test(url) && !/[\s\p{Cc}#]/u.test(url)
  if (!isPlain || !isDecodable(url) || parsed === null) return form
  const { hostname, pathname, password, searchParams } = parsed
  if (hostname === '' || !/^\/[^/@]+$/.test(pathname)) return form
  if (password !== '' && !isFromEnvironment(written))
    return (
      'expected a reference to an environment variable, got the password itself, which ' +
      'everybody with the repository can read. Write "url: ${env:DATABASE_URL}" and set that ' +
      'variable. Change the password if this file was ever shared.'
    )
  const names = [...searchParams.keys()]
  if (names.some((name, i) => !parameters.includes(name) || names.indexOf(name) < i))
    return `expected no parameters but ${parameters.join(', ')}, and each once`
  const mode = searchParams.get('sslmode')
  if (mode !== null && verifying.includes(mode)) return null
  const isHere = isLoopback(hostname) || /^%2f/i.test(hostname)
  if (isHere && (mode === null || mode === 'disable')) return null
  return isHere
    ? 'expected sslmode=verify-full, or none for a database of this machine'
    : 'expected an address that ends with "?sslmode=verify-full": without TLS and a verified ' +
        'certificate, others on the network could read the password and change the state. Only ' +
        'a database of this machine (127.0.0.1, [::1], localhost, a socket) needs none. ' +
        '"sslrootcert=FILE" names the certificate of an authority of your own.'
}

/**
 * Asks for full verification where the address says less. The client does the same today, prints
 * a warning, and will verify less in its next version.
 */
export function verifyFully(url: string): string {
  return url.replace(/([?&]sslmode=)(?:require|verify-ca)(?=&|$)/, '$1verify-full')
}

/** Tests whether the client can undo the percent-encoding. */
function isDecodable(url: string): boolean {
  try {
    return decodeURIComponent(url) !== ''
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** Tests whether no part of the password is in the file: the address or it is a reference. */
function isFromEnvironment(written: string): boolean {
  const text = written.replace(/\$\$\{|\$\{env:[^{}]*\}/g, (match) =>
    match === '$${' ? '-' : '\0',
  )
  return /^\0(?:[/?][^@]*)?$/.test(text) || /^[^:]*:\/\/[^:@/]*:\0+@[^@]*$/.test(text)
}
