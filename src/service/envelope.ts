import { isObject, getOwn, parseJson, type JsonObject } from '../core/model/json.ts'
import type { Limits } from '../core/model/outcome.ts'
import { maxSearchedLength } from '../core/model/secret.ts'
import { markForeign, type ForeignText } from '../core/model/text/text-makers.ts'
import type { Answer } from './transport.ts'

/** The response envelope of an answer (specification, "Response envelope"); null where absent. */
export interface Envelope {
  /** The body, if it is a JSON object. */
  body: JsonObject | null
  /** `code`, if it is a whole number. */
  code: number | null
  /** Message of the service in one line, without secrets, or a text of our own. */
  message: string
  limits: Limits
  /** Wait that the service demands, ms. */
  retryAfterMs: number | null
}

/**
 * Returns what may be shown of the message of an answer.
 *
 * @param code of the answer; null if it has none
 */
export type ShowMessage = (text: ForeignText, status: number, code: number | null) => string

/** Maximum length of a message, in characters. */
const maxMessage = 2000

/**
 * Parses the envelope of an answer and its rate-limit headers (specification, "Limits").
 *
 * @param show removes secrets from the message of the service
 * @param words messages by HTTP status, for envelopes without one
 */
export function parseEnvelope(
  answer: Answer,
  show: ShowMessage,
  words: Record<number, string>,
): Envelope {
  const body = parseBody(answer.body)
  const code =
    body !== null && typeof body['code'] === 'number' && Number.isInteger(body['code'])
      ? body['code']
      : null
  const reset = parseMilliseconds(answer.header('X-Retry-After'))
  return {
    body,
    code,
    message:
      code === null
        ? `HTTP ${answer.status} without an answer of the service: a proxy or firewall?`
        : formatMessage(answer, body, (text) => show(text, answer.status, code), words),
    limits: parseLimits(answer, reset),
    retryAfterMs: reset ?? parseMilliseconds(answer.header('Retry-After')),
  }
}

/** Tests whether a status blames the call, which then was not carried out. */
export function isClientError(status: number): boolean {
  return status >= 400 && status < 500
}

/** Parses the limits. One of an unknown period is left out; a throttled call leaves no more. */
function parseLimits({ status, header }: Answer, resetMs: number | null): Limits {
  const period = header('X-Ratelimit-Grad')?.trim().toLowerCase() ?? 'minute'
  const remaining = parseWholeNumber(header('X-Ratelimit-Remaining'))
  if (period === 'hour' || period === 'day')
    return { remaining: status === 429 ? 0 : remaining, resetMs, period }
  return { remaining: period === 'minute' ? remaining : null, resetMs }
}

function parseBody(text: string): JsonObject | null {
  const value = parseJson(text)
  return isObject(value) ? value : null
}

function formatMessage(
  answer: Answer,
  body: JsonObject | null,
  show: (text: ForeignText) => string,
  words: Record<number, string>,
): string {
  const message = body === null ? undefined : getOwn(body, 'message')
  if (typeof message !== 'string' || message === '')
    return words[answer.status] ?? `HTTP ${answer.status}, no message`
  // Remove secrets first, while they are whole; then characters that could control a terminal.
  return show(markForeign(message.slice(0, maxSearchedLength)))
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, maxMessage)
}

function parseWholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

function parseMilliseconds(seconds: string | null): number | null {
  const number = parseWholeNumber(seconds)
  return number === null ? null : number * 1000
}
