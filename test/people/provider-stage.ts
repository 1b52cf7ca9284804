import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose'
import { Provider, type Configuration } from 'oidc-provider'

/** An account at the provider. */
export interface Account {
  email: string
  isVerified?: boolean
  groups: string[]
}

/** A certified OpenID provider in this process. */
export interface ProviderStage {
  issuer: string
  accounts: Map<string, Account>
  /** Account that logs in next. */
  user: string
  /** Signs with another key from now on; the old one is gone. */
  rotate(): Promise<void>
  /** Stops answering, and answers again at the same address. */
  leave(): Promise<void>
  comeBack(): Promise<void>
  close(): Promise<void>
}

export const clientSecret = 'secret-of-the-client-of-tests'

/** Creates a key that signs tokens. */
export async function createKey(kid: string): Promise<{ jwk: JWK; key: CryptoKey }> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' }
  return { jwk, key: privateKey }
}

/** Starts a provider on a free port, with a client that may be sent back to an address. */
export async function startProvider(redirect: () => string): Promise<ProviderStage> {
  const accounts = new Map<string, Account>()
  let provider: Provider
  let server: Server = createServer()
  let keys = 0
  const listen = async (port: number) => {
    server = createServer((incoming, outgoing) => void provider.callback()(incoming, outgoing))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
  const issuer = `http://127.0.0.1:${port}`
  const build = async () => {
    const { jwk } = await createKey(`key-${++keys}`)
    const configuration: Configuration = {
      clients: [
        {
          client_id: 'edgewise',
          client_secret: clientSecret,
          redirect_uris: [redirect()],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      jwks: { keys: [jwk] },
      cookies: { keys: ['cookie-key-of-tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      scopes: ['openid', 'email', 'profile', 'groups'],
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      findAccount: (_context, id) => ({
        accountId: id,
        claims: async () => {
          const { email = '', isVerified = true, groups = [] } = accounts.get(id) ?? {}
          return { sub: id, email, email_verified: isVerified, groups }
        },
      }),
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      loadExistingGrant: async (context) => {
        const grant = new context.oidc.provider.Grant({
          clientId: context.oidc.client?.clientId ?? '',
          accountId: context.oidc.session?.accountId ?? '',
        })
        grant.addOIDCScope('openid email profile groups')
        await grant.save()
        return grant
      },
    }
    const created = new Provider(issuer, configuration)
    // The page of the password: whoever `user` names is let in.
    created.use(async (context, next) => {
      if (!context.path.startsWith('/interaction/')) return next()
      const result = { login: { accountId: stage.user } }
      context.respond = false
      await created.interactionFinished(context.req, context.res, result)
    })
    return created
  }
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const stage: ProviderStage = {
    issuer,
    accounts,
    user: '',
    rotate: async () => {
      provider = await build()
    },
    leave: close,
    comeBack: async () => void (await listen(port)),
    close,
  }
  provider = await build()
  return stage
}
