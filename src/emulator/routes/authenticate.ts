import { createHash, timingSafeEqual } from 'node:crypto'
import type { Json, JsonObject } from '../../core/model/json.ts'
import type { EmulatorRequest } from './exchange.ts'
import { parseParameters } from './parse-parameters.ts'
import { parseQuery } from './parse-query.ts'
import { Refusal } from './refusal.ts'

/** Parses the parameters of a query, after its token. Throws a Refusal. */
export function openQuery(
  { query }: EmulatorRequest,
  { token }: { token: string | null },
): ReadonlyMap<string, string> {
  authenticate(token, undefined, query)
  return parseQuery(query)
}

/** Parses the parameters in the body of a call, before its token. Throws a Refusal. */
export async function openBody(
  request: EmulatorRequest,
  { token }: { token: string | null },
): Promise<JsonObject> {
  const given = await parseParameters(request)
  authenticate(token, given['token'], request.query)
  return given
}

/**
 * Accepts a call or throws a Refusal (HTTP 401). The token may be in the body or in the query; if
 * it is in both, both must be valid (specification, "Authentication"). `expected` null accepts any
 * token that is not empty.
 */
function authenticate(expected: string | null, inBody: Json | undefined, query: string): void {
  const inQuery = new URLSearchParams(query).getAll('token').at(-1)
  const given = [inBody, inQuery].filter((token) => token !== undefined)
  if (given.length === 0)
    throw new Refusal(
      'token-missing',
      'expected a token in the body or in the query string, got none',
    )
  if (!given.every((token) => isValid(token, expected)))
    throw new Refusal('token-wrong', 'the token is wrong')
}

function isValid(token: Json, expected: string | null): boolean {
  const text = typeof token === 'number' ? String(token) : token
  if (typeof text !== 'string') return false
  return expected === null ? text !== '' : timingSafeEqual(digest(text), digest(expected))
}

/**
 * Hashes to equal lengths, so that the duration of a comparison reveals neither content nor length.
 */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
