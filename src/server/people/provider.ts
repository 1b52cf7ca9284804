import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { JWTPayload } from 'jose'
import type { AuthConfig } from '../../core/model/config.ts'
import { identify, type Identity } from '../../core/model/people/identity.ts'
import type { Issuer } from './issuers.ts'

/** Age of a login at the provider after which it asks for the password again, s. */
const maxLoginAge = 12 * 60 * 60

/** What a login that has begun keeps in the browser. */
export interface Login {
  state: string
  nonce: string
  verifier: string
  /** Address to which the provider sends the browser back. */
  redirect: string
  /** Page to show then. */
  to: string
}

/** A provider of OpenID Connect, by the code flow with PKCE. */
export interface Provider {
  /** Begins a login: where to send the browser, and what to keep. It throws as the library does. */
  begin(redirect: string, to: string): Promise<{ url: string; login: Login }>
  /**
   * Ends a login with the query that the provider sent the browser back with. Throws if anything of
   * it is not as it was begun, and returns null for somebody who can't be named.
   */
  finish(query: string, login: Login): Promise<Identity | null>
  /** Finds where somebody logs out of the provider; null if it says no such place, or is away. */
  findLogout(): Promise<string | null>
}

/** Creates the provider of a server. */
export function createProvider(
  { clientId, groupsClaim }: NonNullable<AuthConfig['provider']>,
  issuer: Issuer,
): Provider {
  return {
    begin: async (redirect, to) => {
      const config = await issuer.discover()
      const verifier = randomPKCECodeVerifier()
      const login = { state: randomState(), nonce: randomNonce(), verifier, redirect, to }
      const offered = config.serverMetadata().scopes_supported ?? []
      // Some providers put the groups into the token only if they are asked for.
      const more = offered.includes(groupsClaim) ? [groupsClaim] : []
      const url = buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: ['openid', 'email', 'profile', ...more].join(' '),
        state: login.state,
        nonce: login.nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        max_age: String(maxLoginAge),
      })
      return { url: url.href, login }
    },
    finish: async (query, { state, nonce, verifier, redirect }) => {
      const config = await issuer.discover()
      const url = new URL(redirect)
      url.search = query
      const tokens = await authorizationCodeGrant(config, url, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        maxAge: maxLoginAge,
        idTokenExpected: true,
      })
      // The library trusts the connection over which the token came; its signature counts, too.
      const claims = await issuer.verify(tokens.id_token ?? '', { audience: clientId })
      return identifyClaims(claims, groupsClaim)
    },
    findLogout: async () => {
      const found = await issuer.discover().catch(() => null)
      const place = found?.serverMetadata().end_session_endpoint
      if (found === null || place === undefined) return null
      const { protocol } = new URL(place)
      return /^https?:$/.test(protocol) ? buildEndSessionUrl(found).href : null
    },
  }
}

/** Identifies a person by the verified e-mail address, or else by the subject. */
function identifyClaims(claims: JWTPayload, groupsClaim: string): Identity | null {
  const { iss: issuer = '', sub = '', email: address, email_verified: isVerified } = claims
  // A provider may let everybody enter any address.
  const email = typeof address === 'string' && isVerified === true ? address : null
  const groups = Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : []
  return identify('oidc', sub, { issuer, groups, email })
}
