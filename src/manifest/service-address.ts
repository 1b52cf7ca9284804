import { isLoopback } from '../model/loopback.ts'
import type { Finding } from './finding.ts'
import { listSpellings } from './spellings.ts'
import { createWorkspaceFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'

/**
 * What is wrong with the service's address. The address may hold a password: no message shows it.
 */
export function checkAddress({ url, token, allowHttp }: WorkspaceConfig['service']): Finding[] {
  const detail = url === 'emulator' ? null : findFault(url, token, allowHttp)
  return detail === null ? [] : [addressFinding(detail)]
}

/** The finding about an address that holds the value of a secret. */
export function createSecretAddressFinding(): Finding {
  return addressFinding(secretDetail)
}

/** Says what to change about an address that holds the value of a secret. */
export const secretDetail =
  'expected an address without the value of a secret. Take it out: the address is shown and recorded.'

/**
 * Whether one of these values stands in the host or the path of an address, in whatever spelling:
 * letters large or small, percent-encoded several times, as base64.
 */
export function holdsValue(url: string, values: Iterable<string>): boolean {
  if (!URL.canParse(url)) return false
  const { hostname, pathname } = new URL(url)
  const written = url.replace(/^https?:\/\//i, '')
  const texts = [written, hostname, pathname].flatMap(decodings).map((text) => text.toLowerCase())
  for (const value of values) {
    if (value.length < shortest) continue
    const spellings = listSpellings(value).map((spelling) => spelling.toLowerCase())
    if (texts.some((text) => spellings.some((spelling) => text.includes(spelling)))) return true
  }
  return false
}

/** A shorter value may be a part of any name. */
const shortest = 4

function findFault(url: string, token: string, allowHttp: boolean): string | null {
  // A parser leaves out some blanks and control characters, and then the host is another one.
  if (!/^https?:\/\//i.test(url) || /[\s\p{Cc}]/u.test(url) || !URL.canParse(url))
    return 'expected "emulator", or an address that begins with http:// or https:// and names a host'
  const { protocol, username, password, hostname, search, hash, pathname } = new URL(url)
  if (username !== '' || password !== '')
    return 'expected an address without user name and password. The service is entered with "token".'
  if (search !== '' || hash !== '' || /[?#]/.test(url))
    return 'expected an address without "?" and "#"'
  if (holdsValue(url, [token]))
    return 'expected an address without the token. Take it out: the address is shown and recorded.'
  if (/\/v2\/*$/.test(pathname))
    return 'expected the address without "/v2", which is appended. Take "/v2" out.'
  if (protocol !== 'http:' || allowHttp || isLoopback(hostname)) return null
  return (
    'expected an address that begins with https://: over plain http the token can be read on the way. ' +
    'Only this machine (127.0.0.1, [::1], localhost) is called over http, unless "allowHttp: true" stands under "service".'
  )
}

function addressFinding(detail: string): Finding {
  return createWorkspaceFinding('/service/url', detail)
}

/** A text, and what it is once percent-encoding is undone, several times over. */
function decodings(text: string): string[] {
  const found = [text]
  for (let last = text; found.length <= maxDecodings;) {
    last = percentDecoded(last)
    if (found.includes(last)) break
    found.push(last)
  }
  return found
}

const maxDecodings = 3

/** Percent-encoding undone wherever it is well-formed. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}
