import { customFetch as joseFetch, createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose'
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance as tolerance,
  customFetch,
  discovery,
  None,
  type ClientAuth,
  type Configuration,
} from 'openid-client'
import type { Clock } from '../../core/model/time/clock.ts'
import { isLoopback, parseUrl } from '../../core/model/text/url.ts'
import type { BoundedFetch } from './bounded-fetch.ts'

/** Algorithms that are believed: with public keys, so that no key of this server signs a token. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512']
const pinned = [...algorithms, 'EdDSA', 'Ed25519']
/** Tolerated difference of clocks, s. */
const clockTolerance = 30
/** How long a discovery holds, and a failure, ms: not every request may cause one. */
const [knownMs, failedMs] = [60 * 60_000, 5000]
/** How long keys hold, and the least time between two fetches of them, ms. */
const [keysMs, cooldownMs] = [10 * 60_000, 30_000]

/** The client that is registered at an issuer. */
interface Client {
  id: string
  /** Null for one that is public, or none. */
  secret: string | null
}

/** What is expected of a token beside its signature. */
export interface Expected {
  audience: string
  /** Client that a token may name as its own; absent: the audience. */
  client?: string
  /** Maximum age, s; absent: only its end counts. */
  maxAge?: number
}

/** An issuer of tokens whose keys are fetched when they are needed. */
export interface Issuer {
  /** Fetches what the issuer says of itself; it throws what the library throws. */
  discover(): Promise<Configuration>
  /** Verifies the signature, the issuer, the audience, the client and the times of a token. */
  verify(token: string, expected: Expected): Promise<JWTPayload>
}

/** Creates an issuer; nothing is fetched yet. */
export function createIssuer(
  address: string,
  client: Client,
  ports: { clock: Pick<Clock, 'now' | 'monotonic'>; fetch: BoundedFetch },
): Issuer {
  const { clock, fetch } = ports
  const isHere = isHttpHere(address)
  const load = async () => {
    const config = await discovery(
      new URL(address),
      client.id,
      { [tolerance]: clockTolerance },
      client.secret === null ? None() : authenticate(client.secret),
      { [customFetch]: fetch, ...(isHere ? { execute: [allowInsecureRequests] } : {}) },
    )
    const keys = config.serverMetadata().jwks_uri ?? ''
    if (!keys.startsWith('https:') && !isHttpHere(keys))
      throw new TypeError('the issuer names no address of its keys that begins with https://')
    const options = { cacheMaxAge: keysMs, cooldownDuration: cooldownMs, timeoutDuration: 10_000 }
    return { config, keys: createRemoteJWKSet(new URL(keys), { ...options, [joseFetch]: fetch }) }
  }
  const known = keepForSome(load, clock)
  return {
    discover: async () => (await known()).config,
    verify: async (token, { audience, client: party = audience, maxAge }) => {
      const { config, keys } = await known()
      const { payload } = await jwtVerify(token, keys, {
        algorithms: pinned,
        issuer: config.serverMetadata().issuer,
        audience,
        clockTolerance,
        currentDate: new Date(clock.now()),
        requiredClaims: ['sub', 'exp', 'iat'],
        ...(maxAge === undefined ? {} : { maxTokenAge: maxAge }),
      })
      refuseForeign(party, payload, clock.now())
      return payload
    },
  }
}

/** Refuses a token of another client, and one of the future, which the library accepts. */
function refuseForeign(
  client: string,
  { iat, azp = client, auth_time: login = 0 }: JWTPayload,
  now: number,
): void {
  if (azp !== client) throw new TypeError('"azp" of the token is another client')
  const isPast = (time: unknown) => typeof time === 'number' && time <= now / 1000 + clockTolerance
  if (!isPast(iat) || !isPast(login)) throw new TypeError('the token is of the future')
}

/** Sends the secret as the issuer takes it: in a header, unless it takes only the body. */
function authenticate(secret: string): ClientAuth {
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const own = methods.includes('client_secret_basic') ? basic : post
    return own(server, ...rest)
  }
}

function isHttpHere(address: string): boolean {
  const url = parseUrl(address)
  return url !== null && url.protocol === 'http:' && isLoopback(url.hostname)
}

/** Loads once for all who ask, and again after some time; a failure is kept for a moment. */
function keepForSome<T>(load: () => Promise<T>, clock: Pick<Clock, 'monotonic'>) {
  let last: { value: Promise<T>; untilMs: number } | null = null
  return (): Promise<T> => {
    if (last !== null && clock.monotonic() < last.untilMs) return last.value
    const own = { value: load(), untilMs: clock.monotonic() + knownMs }
    own.value.catch(() => {
      own.untilMs = clock.monotonic() + failedMs
    })
    last = own
    return own.value
  }
}
