import type { ItemKey } from '../../core/model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../../core/model/json.ts'
import type { Outcome } from '../../core/model/outcome.ts'
import { parseEnvelope, type ShowMessage } from '../envelope.ts'
import type { Answer } from '../transport.ts'

/**
 * Parses the answer to a write (specification, "Errors", "Limits", "POST /domain/config"). An
 * answer that does not clearly state the result leaves the write in-doubt.
 *
 * @param findItem returns the item of a wire name
 * @param show returns what may be shown of the message of the service
 * @param method of the call; some accounts do not offer `DELETE`
 */
export function parseAnswer(
  answer: Answer,
  findItem: (wireName: string) => ItemKey,
  show: ShowMessage = (text) => text,
  method: 'POST' | 'DELETE' = 'POST',
): Outcome {
  const { body, code, message, retryAfterMs, limits } = parseEnvelope(answer, show, fallback)
  const createInDoubt = (why: string): Outcome => ({
    kind: 'in-doubt',
    message: why,
    ...(limits.remaining === null ? {} : { limits }),
  })
  if (answer.status === 429) return { kind: 'throttled', message, retryAfterMs, limits }
  if (isNotAccepted(answer.status) || (method === 'DELETE' && isNotOffered(answer.status, code)))
    return { kind: 'refused', status: answer.status, code, message, fatal: true, limits }
  if (answer.status >= 300 && answer.status < 400)
    return createInDoubt(
      `the service answered with a redirect (HTTP ${answer.status}), which is not followed`,
    )
  if (answer.status >= 500)
    return createInDoubt(`the service answered HTTP ${answer.status}: ${message}`)
  if (body === null)
    return createInDoubt(`the service answered HTTP ${answer.status} with a body that is not JSON`)
  if (code === null)
    return createInDoubt(`the service answered HTTP ${answer.status} without a numeric code`)
  if (answer.status === 200 && code === 0)
    return {
      kind: 'confirmed',
      config: parseConfig(body, findItem),
      domains: parseDomains(body),
      limits,
    }
  if (code === 0) return createInDoubt(`the service answered code 0 with HTTP ${answer.status}`)
  return { kind: 'refused', status: answer.status, code, message, fatal: false, limits }
}

/** Tests whether a status means that no call is accepted, so that nothing of it was saved. */
function isNotAccepted(status: number): boolean {
  return status === 401 || status === 403 || status === 404
}

/** Tests whether an answer means that the account does not offer the method. */
function isNotOffered(status: number, code: number | null): boolean {
  return status === 405 || code === 401_006
}

const fallback: Record<number, string> = {
  401: 'the token is wrong, or it may not write configurations',
  403: 'the token may not write configurations',
  404: 'there is no such interface at this address',
  429: 'too many calls in this minute',
}

/** Parses the resulting configuration under `data.config`, keyed by item. */
function parseConfig(
  body: JsonObject,
  findItem: (wireName: string) => ItemKey,
): Record<ItemKey, Json> {
  const data = getOwn(body, 'data')
  const config = data !== undefined && isObject(data) ? getOwn(data, 'config') : undefined
  if (config === undefined || !isObject(config)) return {}
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [findItem(name), value]))
}

/**
 * Parses the `domains` array: inside `data` for most items, at the top level for `combined_ban`.
 */
function parseDomains(body: JsonObject): { id: string; domain: string }[] {
  const data = getOwn(body, 'data')
  const inside = data !== undefined && isObject(data) ? getOwn(data, 'domains') : undefined
  const list = inside ?? getOwn(body, 'domains')
  if (!Array.isArray(list)) return []
  return list.flatMap((entry) => {
    if (!isObject(entry) || typeof entry['domain'] !== 'string') return []
    const id = entry['id']
    return typeof id === 'string' || typeof id === 'number'
      ? [{ id: String(id), domain: entry['domain'] }]
      : []
  })
}
