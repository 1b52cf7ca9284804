import type { Finding } from '../manifests/finding.ts'
import { listVariables } from './workspace-env.ts'
import { storeRows } from '../../core/model/stores.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'
import type { NotifyConfig, StateConfig } from '../../core/model/config.ts'
import type { Json } from '../../core/model/json.ts'
import { isLoopback, parseUrl } from '../../core/model/text/url.ts'

/** Checks the address of the service. It may contain a password, so no message shows it. */
export function checkAddress({ url, allowHttp }: WorkspaceConfig['service']): Finding[] {
  const detail = url === 'emulator' ? null : findFault(url, allowHttp)
  return detail === null ? [] : [createFinding('/service/url', detail)]
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

/**
 * Checks the receivers of notifications. An address may be a secret, so no text shows it.
 *
 * @param find returns the value that the file itself has at a pointer
 */
export function checkNotify(
  receivers: NotifyConfig[],
  find: (pointer: string) => Json | undefined,
): Finding[] {
  return receivers.flatMap(({ kind, url, secret }, i) => {
    const pointer = `/notify/${i}`
    const findings: Finding[] = []
    const fault = url === '' && isReference(find(`${pointer}/url`)) ? null : findUrlFault(url)
    if (fault !== null) findings.push(createFinding(`${pointer}/url`, fault))
    if (secret !== undefined && kind !== 'webhook')
      findings.push(
        createFinding(`${pointer}/secret`, '"secret" is valid only with "kind: webhook".', 'key'),
      )
    else if (secret !== undefined && !isReference(find(`${pointer}/secret`)))
      findings.push(
        createFinding(
          `${pointer}/secret`,
          'the key must come from an environment variable: write "secret: ${env:NAME}". ' +
            'Replace it at the receiver if this file was ever shared.',
        ),
      )
    return findings
  })
}

function isReference(written: Json | undefined): boolean {
  return typeof written === 'string' && listVariables(written).length > 0
}

function findUrlFault(text: string): string | null {
  const url = parseUrl(text)
  if (url === null || /[\s\p{Cc}]/u.test(text))
    return 'expected an address that begins with https://.'
  if (url.protocol === 'https:') return null
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return null
  return (
    'expected an address that begins with https:// (http:// for this machine only): others on ' +
    'the network could read the messages.'
  )
}

/**
 * Checks the location of the state.
 *
 * @param find returns the value that the file itself has at a pointer
 */
export function checkState(
  state: StateConfig,
  find: (pointer: string) => Json | undefined,
): Finding[] {
  const foreign = storeRows.flatMap(([store, { keys }]) =>
    store === state.store ? [] : keys.map((key) => ({ store, key, pointer: `/state/${key}` })),
  )
  const found = foreign
    .filter(({ pointer }) => find(pointer) !== undefined)
    .map(({ store, key, pointer }) =>
      createFinding(
        pointer,
        `"${key}" is valid only with "store: ${store}", but the store is ${state.store}. ` +
          'Remove it.',
        'key',
      ),
    )
  return state.store === 'postgres' ? [...found, ...checkUrl(state, find('/state/url'))] : found
}

function checkUrl({ database }: StateConfig, written: Json | undefined): Finding[] {
  const text = typeof written === 'string' ? written : ''
  if (text === '')
    return [
      createFinding(
        written === undefined ? '/state' : '/state/url',
        'the store postgres needs "url", the address of the database. Write ' +
          '"url: ${env:DATABASE_URL}" and set that variable.',
      ),
    ]
  if (database === undefined && listVariables(text).length > 0) return []
  const fault = findAddressFault(database?.url ?? '', text)
  return fault === null ? [] : [createFinding('/state/url', fault)]
}

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
function findAddressFault(url: string, written: string): string | null {
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
