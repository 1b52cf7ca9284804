import type { ItemKey } from '../model/item.ts'
import { isObject, own, type Json, type JsonObject } from '../model/json.ts'
import type { Limits, Outcome } from '../model/outcome.ts'

/** An answer as it came over the network. */
export interface Answer {
  status: number
  header(name: string): string | null
  body: string
}

/**
 * What an answer to a write means (specification, "Errors", "Limits", "POST /domain/config"). Anything that does not
 * say clearly what became of the write leaves it in doubt.
 *
 * @param itemOf the item that a wire name stands for
 * @param scrub takes secrets out of the service's message
 */
export function readAnswer(
  answer: Answer,
  itemOf: (wireName: string) => ItemKey,
  scrub: (text: string) => string = (text) => text,
): Outcome {
  const limits = limitsOf(answer)
  const body = parsed(answer.body)
  const code = body !== null && typeof body['code'] === 'number' && Number.isInteger(body['code']) ? body['code'] : null
  const message = messageOf(answer, body, scrub)
  if (answer.status === 429) return { kind: 'throttled', message, retryAfterMs: limits.resetMs ?? retryAfterMs(answer), limits }
  if (answer.status === 401 || answer.status === 404) return { kind: 'refused', status: answer.status, code, message, fatal: true, limits }
  if (answer.status >= 300 && answer.status < 400)
    return inDoubt(`the service answered with a redirect (HTTP ${answer.status}), which is not followed`)
  if (answer.status >= 500) return inDoubt(`the service answered HTTP ${answer.status}: ${message}`)
  if (body === null) return inDoubt(`the service answered HTTP ${answer.status} with something that is not JSON`)
  if (code === null) return inDoubt(`the service answered HTTP ${answer.status} without a numeric code`)
  if (answer.status === 200 && code === 0) return { kind: 'confirmed', config: configOf(body, itemOf), domains: domainsOf(body), limits }
  if (code === 0) return inDoubt(`the service answered code 0 with HTTP ${answer.status}`)
  return { kind: 'refused', status: answer.status, code, message, fatal: answer.status === 403, limits }
}

function inDoubt(message: string): Outcome {
  return { kind: 'in doubt', message }
}

function parsed(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function messageOf(answer: Answer, body: JsonObject | null, scrub: (text: string) => string): string {
  const message = body === null ? undefined : own(body, 'message')
  const text = typeof message === 'string' && message !== '' ? message : (fallback[answer.status] ?? `HTTP ${answer.status}, no message`)
  // Secrets go first, while they stand whole; then what could drive a terminal.
  return scrub(text)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 2000)
}

const fallback: Record<number, string> = {
  401: 'the token is wrong, or it may not write configurations',
  404: 'there is no such interface at this address',
  429: 'too many calls in this minute',
}

/** The rate-limit headers (specification, "Limits"). */
function limitsOf(answer: Answer): Limits {
  const perMinute = (answer.header('X-Ratelimit-Grad') ?? 'minute') === 'minute'
  const remaining = wholeNumber(answer.header('X-Ratelimit-Remaining'))
  const reset = wholeNumber(answer.header('X-Retry-After'))
  return { remaining: perMinute ? remaining : null, resetMs: reset === null ? null : reset * 1000 }
}

function retryAfterMs(answer: Answer): number | null {
  const seconds = wholeNumber(answer.header('Retry-After'))
  return seconds === null ? null : seconds * 1000
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

/** The resulting configuration under `data.config`, keyed by item. */
function configOf(body: JsonObject, itemOf: (wireName: string) => ItemKey): Record<ItemKey, Json> {
  const data = own(body, 'data')
  const config = data !== undefined && isObject(data) ? own(data, 'config') : undefined
  if (config === undefined || !isObject(config)) return {}
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [itemOf(name), value]))
}

/** The `domains` array, which sits inside `data` for most items and at the top level for `combined_ban`. */
function domainsOf(body: JsonObject): { id: string; domain: string }[] {
  const data = own(body, 'data')
  const inside = data !== undefined && isObject(data) ? own(data, 'domains') : undefined
  const list = inside ?? own(body, 'domains')
  if (!Array.isArray(list)) return []
  return list.flatMap((entry) => {
    if (!isObject(entry) || typeof entry['domain'] !== 'string') return []
    const id = entry['id']
    return typeof id === 'string' || typeof id === 'number' ? [{ id: String(id), domain: entry['domain'] }] : []
  })
}
