import { isLoopback } from '../model/loopback.ts'
import { parseUrl } from '../model/parse-url.ts'
import type { Finding } from './finding.ts'
import { decodePercent } from './readings.ts'
import { listSpellings } from './spellings.ts'
import { createWorkspaceFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'

/** Checks the address of the service. It may contain a password, so no message shows it. */
export function checkAddress({ url, allowHttp }: WorkspaceConfig['service']): Finding[] {
  const detail = url === 'emulator' ? null : findFault(url, allowHttp)
  return detail === null ? [] : [createWorkspaceFinding('/service/url', detail)]
}

/**
 * Tests whether a text contains one of these values in any spelling: case, repeated
 * percent-encoding, base64. The host and path of an address are looked at as they are used, too.
 *
 * @param minLength minimum length of a value; a shorter one may be a part of any name
 */
export function holdsValue(text: string, values: Iterable<string>, minLength: number): boolean {
  const { hostname = '', pathname = '' } = parseUrl(text) ?? {}
  const written = text.replace(/^[a-z][a-z\d+.-]*:\/\//i, '')
  const texts = [written, hostname, pathname]
    .flatMap(listDecodings)
    .map((each) => each.toLowerCase())
  for (const value of values) {
    if (value.length < minLength) continue
    const spellings = listSpellings(value).map((spelling) => spelling.toLowerCase())
    if (texts.some((each) => spellings.some((spelling) => each.includes(spelling)))) return true
  }
  return false
}

function findFault(url: string, allowHttp: boolean): string | null {
  // URL parsers drop some blanks and control characters, which would change the host.
  const parsed = parseUrl(url)
  if (!/^https?:\/\//i.test(url) || /[\s\p{Cc}]/u.test(url) || parsed === null)
    return (
      'expected "emulator", or an address that begins with http:// or https:// and names a ' +
      'host'
    )
  const { protocol, username, password, hostname, search, hash, pathname } = parsed
  if (username !== '' || password !== '')
    return 'expected an address without user name and password. Use "token" to authenticate.'
  if (search !== '' || hash !== '' || /[?#]/.test(url))
    return 'expected an address without "?" and "#"'
  if (/\/v2\/*$/.test(pathname))
    return 'expected the address without "/v2", which is appended. Remove "/v2".'
  if (protocol !== 'http:' || allowHttp || isLoopback(hostname)) return null
  return (
    'expected an address that begins with https://: plain http would expose the token on ' +
    'the network. ' +
    'Only this machine (127.0.0.1, [::1], localhost) may be called over http, unless ' +
    '"allowHttp: true" is set under "service".'
  )
}

/** A text, and what it is once percent-encoding is undone, several times over. */
function listDecodings(text: string): string[] {
  const found = [text]
  for (let last = text; found.length <= maxDecodings;) {
    last = decodePercent(last)
    if (found.includes(last)) break
    found.push(last)
  }
  return found
}

const maxDecodings = 3
