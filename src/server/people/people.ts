import { BlockList, isIPv6 } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { isObject, parseJson } from '../../core/model/json.ts'
import type { AuthConfig } from '../../core/model/config.ts'
import { markForeign, type ForeignText } from '../../core/model/text/text-makers.ts'
import { identify, normalizeUser, type Identity } from '../../core/model/people/identity.ts'
import { lowerAscii } from '../../core/model/text/lower-ascii.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { parseNetwork } from '../../manifest/workspace-file/people-rules.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import type { Issuer } from './issuers.ts'
import type { Provider } from './provider.ts'

/** How people and jobs are recognized, beside the token. */
export interface People {
  /** Null without a provider. */
  provider: Provider | null
  /** Identifies the user whom a trusted proxy names; null if none does. */
  identifyByProxy(incoming: Pick<IncomingMessage, 'socket' | 'headersDistinct'>): Identity | null
  /** Identifies a job of CI by its token; null if it is not valid, or of no listed job. */
  identifyJob(token: string): Promise<Identity | null>
}

/** Ports of those who are recognized; `onFault` gets what failed, and at which issuer. */
export interface PeoplePorts {
  clock: Pick<Clock, 'now' | 'monotonic'>
  env: Record<string, string | undefined>
  onFault(what: string, issuer: string, error: unknown): void
}

/** Maximum age of a token of a CI job, s. */
const maxJobAge = 60 * 60

/**
 * Opens what recognizes people and jobs. The libraries of OpenID Connect are loaded only if a
 * provider or an issuer is configured.
 */
export async function openPeople(auth: AuthConfig, ports: PeoplePorts): Promise<People> {
  const { provider, proxy, ci } = auth
  const isReady = provider !== null && provider.issuer !== '' && provider.clientId !== ''
  const needsIssuers = isReady || ci.length > 0
  const { createIssuer } = needsIssuers ? await import('./issuers.ts') : { createIssuer: null }
  const world = { clock: ports.clock, fetch: createBoundedFetch(ports.env) }
  const issuers = new Map<string, Issuer>()
  for (const { issuer } of ci)
    if (createIssuer !== null && !issuers.has(issuer))
      issuers.set(issuer, createIssuer(issuer, { id: 'edgewise', secret: null }, world))
  const identifyByProxy = proxy === null ? () => null : createProxyReader(proxy)
  const identifyJob = (token: string) => findJob(token, ci, issuers, ports)
  if (!isReady || createIssuer === null || provider.clientSecret === '') {
    const missing = 'issuer, clientId or clientSecret of serve.auth comes from an unset variable'
    if (provider !== null) ports.onFault('login not possible', provider.issuer, new Error(missing))
    return { provider: null, identifyByProxy, identifyJob }
  }
  const { createProvider } = await import('./provider.ts')
  const client = { id: provider.clientId, secret: provider.clientSecret }
  const own = createIssuer(provider.issuer, client, world)
  return { provider: createProvider(provider, own), identifyByProxy, identifyJob }
}

/** Describes why a library of OpenID Connect refuses something: its reason, never a token. */
export function describeFault(error: unknown): ForeignText {
  if (!(error instanceof Error)) return markForeign('unknown')
  const { cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
  const inner = cause instanceof Error ? `: ${cause.message}` : ''
  return markForeign(`${error.message}${code}${inner}`.slice(0, 300))
}

/** Creates a reader of a proxy's headers, which believes only peers of its networks. */
function createProxyReader({ from, user, groups }: NonNullable<AuthConfig['proxy']>) {
  const trusted = new BlockList()
  for (const text of from) {
    const network = parseNetwork(text)
    if (network !== null) trusted.addSubnet(network.address, network.bits, network.family)
  }
  const read = (headers: IncomingMessage['headersDistinct'], name: string): string | null => {
    const [value = '', ...others] = headers[lowerAscii(name)] ?? []
    // A header that stands there twice was sent by the client, and by the proxy.
    return others.length > 0 || value === '' ? null : value
  }
  return ({ socket, headersDistinct }: Parameters<People['identifyByProxy']>[0]) => {
    const peer = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1)[0]
    if (!peer || !trusted.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4')) return null
    const name = read(headersDistinct, user)
    if (name === null) return null
    const list = groups === null ? null : read(headersDistinct, groups)
    const listed = list === null ? [] : list.split(',').map((group) => group.trim())
    return identify('proxy', normalizeUser(name), { groups: listed, email: name })
  }
}

/** Finds the job of a token: the first entry whose issuer, audience and claims it has. */
async function findJob(
  token: string,
  entries: AuthConfig['ci'],
  issuers: ReadonlyMap<string, Issuer>,
  { onFault }: PeoplePorts,
): Promise<Identity | null> {
  const claimed = readIssuer(token)
  let fault: unknown = null
  for (const { issuer, audience, claims } of entries) {
    if (issuer !== claimed) continue
    try {
      const { azp: client = audience } = claims
      const expected = { audience, client, maxAge: maxJobAge }
      const found = await issuers.get(issuer)?.verify(token, expected)
      const isLetIn = Object.entries(claims).every(
        ([name, value]) =>
          found !== undefined && Object.hasOwn(found, name) && found[name] === value,
      )
      if (isLetIn && found?.sub !== undefined) return identify('ci', found.sub, { issuer })
      fault = new Error('a claim has another value than edgewise.yaml lists')
    } catch (error) {
      fault = error
    }
  }
  if (claimed !== null && fault !== null) onFault('token of a CI job refused', claimed, fault)
  return null
}

/** Reads the issuer that a token claims to have, before anything of it is believed. */
function readIssuer(token: string): string | null {
  const [, payload = '', signature] = token.split('.')
  if (signature === undefined) return null
  const claims = parseJson(Buffer.from(payload, 'base64url').toString())
  const iss = isObject(claims) ? claims['iss'] : undefined
  return typeof iss === 'string' ? iss : null
}
