import type { AuthConfig } from '../../core/model/config.ts'
import type { Identity } from '../../core/model/people/identity.ts'
import type { Reaching } from '../../operations/runtime/parts.ts'

/** Who has a token of OpenID Connect, or why that is not known. */
export type TokenHolder = Identity | { fault: string }

/** Identifies who has a token of OpenID Connect, by the issuers of `serve.auth.ci`. */
export async function identifyToken(
  auth: AuthConfig,
  token: string,
  { clock, env }: Pick<Reaching, 'clock' | 'env'>,
): Promise<TokenHolder> {
  const { openPeople, describeFault } = await import('./people.ts')
  let fault = 'its issuer is not listed under serve.auth.ci'
  const onFault = (what: string, _issuer: string, error: unknown) => {
    if (what.includes('token')) fault = describeFault(error)
  }
  // The login of a browser needs its secret, and is of no use here.
  const people = await openPeople({ ...auth, provider: null }, { clock, env, onFault })
  return (await people.identifyJob(token)) ?? { fault }
}
