import { isIP } from 'node:net'
import type { Json } from '../../core/model/json.ts'
import { lowerAscii } from '../../core/model/text/lower-ascii.ts'
import { isLoopback, parseUrl } from '../../core/model/text/url.ts'
import type { Finding } from '../manifests/finding.ts'
import { listVariables } from './workspace-env.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'
import type { WorkspaceConfig } from './workspace.ts'

type Find = (pointer: string) => Json | undefined

/** Headers that have a meaning of their own. */
const taken = ['authorization', 'cookie', 'host', 'origin', 'forwarded', 'x-forwarded-proto']

/**
 * Checks the rules of `roles`, `serve.auth` and `rollout.approval` that the schema can't express.
 *
 * @param find returns the value that the file itself has at a pointer
 */
export function checkPeople({ roles, serve, rollout }: WorkspaceConfig, find: Find): Finding[] {
  const { auth } = serve
  const unnamed = roles.flatMap(({ users, groups }, i) =>
    users.length + groups.length > 0
      ? []
      : [createFinding(`/roles/${i}`, 'expected "users" or "groups": nobody has this role')],
  )
  const issuers = [
    ...(auth.provider === null ? [] : checkProvider(auth.provider, find)),
    ...auth.ci.flatMap(({ issuer }, i) => checkIssuer(`/serve/auth/ci/${i}/issuer`, issuer)),
  ]
  const both = '"issuer" and "proxy" exclude each other. Remove one of them.'
  const isBoth = auth.provider !== null && auth.proxy !== null
  const rest = ['clientId', 'clientSecret'].filter(
    (key) => auth.provider === null && find(`/serve/auth/${key}`) !== undefined,
  )
  return [
    ...unnamed,
    ...issuers,
    ...rest.map((key) => createFinding(`/serve/auth/${key}`, `"${key}" needs "issuer".`, 'key')),
    ...(isBoth ? [createFinding('/serve/auth/proxy', both, 'key')] : []),
    ...(auth.proxy === null ? [] : checkProxy(auth.proxy)),
    ...checkApprovers(rollout.approvers, auth),
  ]
}

function checkApprovers(
  { by, notAuthor }: WorkspaceConfig['rollout']['approvers'],
  { provider, proxy }: WorkspaceConfig['serve']['auth'],
): Finding[] {
  if (provider !== null || proxy !== null || (by < 2 && !notAuthor)) return []
  const key = notAuthor ? 'notAuthor' : 'by'
  const detail =
    `"${key}" has to know who approves: it needs "serve.auth" with "issuer" or "proxy". ` +
    'Otherwise nobody could approve the wave.'
  return [createFinding(`/rollout/approval/${key}`, detail)]
}

function checkProvider(
  { issuer, clientId }: NonNullable<WorkspaceConfig['serve']['auth']['provider']>,
  find: Find,
): Finding[] {
  const secret = find('/serve/auth/clientSecret')
  const isLiteral = typeof secret === 'string' && listVariables(secret).length === 0
  const literal =
    'expected a reference to an environment variable, got the secret itself, which everybody ' +
    'with the repository can read. Write "clientSecret: ${env:OIDC_CLIENT_SECRET}" and set that ' +
    'variable. Replace the secret at the provider if this file was ever shared.'
  const missing = '"issuer" needs "clientId", the client that is registered at the provider.'
  const isMissing = clientId === '' && find('/serve/auth/clientId') === undefined
  return [
    // Without the values of variables, the rest of the file can still be checked.
    ...(issuer === '' ? [] : checkIssuer('/serve/auth/issuer', issuer)),
    ...(isMissing ? [createFinding('/serve/auth/issuer', missing)] : []),
    ...(isLiteral ? [createFinding('/serve/auth/clientSecret', literal)] : []),
  ]
}

/** Checks the address of an issuer: tokens are believed because of what is fetched there. */
function checkIssuer(pointer: string, issuer: string): Finding[] {
  const url = /\s/.test(issuer) ? null : parseUrl(issuer)
  const isPlain = url !== null && url.username === '' && !/[?#]/.test(issuer)
  const isHere = url?.protocol === 'http:' && isLoopback(url.hostname)
  if (isPlain && (url.protocol === 'https:' || isHere)) return []
  const detail =
    'expected an address that begins with https:// (http:// for this machine only), without ' +
    'user, "?" and "#"'
  return [createFinding(pointer, detail)]
}

function checkProxy({ from, user, groups }: ProxyConfig): Finding[] {
  const wrong = from.flatMap((network, i) => {
    const detail = `expected a network such as 10.0.0.0/24 or fd00::/64, got "${network}"`
    return parseNetwork(network) === null
      ? [createFinding(`/serve/auth/proxy/from/${i}`, detail)]
      : []
  })
  const headers = Object.entries({ user, groups }).flatMap(([key, name]) =>
    name === null || !taken.includes(lowerAscii(name))
      ? []
      : [createFinding(`/serve/auth/proxy/${key}`, `"${name}" has another meaning`)],
  )
  const isSame = lowerAscii(groups ?? '') === lowerAscii(user)
  const same = createFinding('/serve/auth/proxy/groups', 'expected another header than "user"')
  return [...wrong, ...headers, ...(isSame ? [same] : [])]
}

type ProxyConfig = NonNullable<WorkspaceConfig['serve']['auth']['proxy']>

/**
 * Parses a network in CIDR notation; null if it is none, or would be every address: everybody could
 * send the headers then.
 */
export function parseNetwork(
  text: string,
): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [, address = '', written = ''] = /^([0-9A-Fa-f.:]+)\/([1-9]\d{0,2})$/.exec(text) ?? []
  const version = isIP(address)
  const bits = Number(written)
  if (version === 0 || bits > (version === 4 ? 32 : 128)) return null
  return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' }
}
