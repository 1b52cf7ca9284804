import type { IncomingMessage } from 'node:http'
import { tokenHolder, type Identity } from '../../core/model/people/identity.ts'
import { areEqual } from '../http/verify-webhook.ts'
import type { People } from './people.ts'

/**
 * Identifies the sender of a bearer: of the token of the server, or of that of a CI job.
 *
 * @returns `absent` without a bearer, null for one that is wrong
 */
export async function identifyBearer(
  { headers }: Pick<IncomingMessage, 'headers'>,
  token: string,
  people: People | undefined,
): Promise<Identity | null | 'absent'> {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (bearer === undefined) return 'absent'
  if (areEqual(bearer, token)) return tokenHolder
  return (await people?.identifyJob(bearer)) ?? null
}

/**
 * Finds the address of the server as the browser has it; null if it can't be the target of a login:
 * over plain http, others could read the code and the session.
 */
export function findOwnAddress(
  { headers: { host = '' } }: Pick<IncomingMessage, 'headers'>,
  isSecure: boolean,
): string | null {
  if (!/^(?:[A-Za-z0-9](?:[\w.-]*\w)?|\[[\da-fA-F:]+\])(?::\d{1,5})?$/.test(host)) return null
  const isHere = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i.test(host)
  if (!isSecure && !isHere) return null
  return `${isSecure ? 'https' : 'http'}://${host}`
}
