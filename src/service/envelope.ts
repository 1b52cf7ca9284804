import { isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import type { Limits } from '../model/outcome.ts'
import type { Answer } from './transport.ts'

/** The response envelope (specification, "Response envelope"), as far as an answer has one. */
export interface Envelope {
  /** The body, where it is a JSON object. */
  body: JsonObject | null
  /** `code`, where it is a whole number. */
  code: number | null
  /** The service's message in one line, without secrets, or a word of our own. */
  message: string
  limits: Limits
  /** How long the service asks to wait, ms. */
  retryAfterMs: number | null
}

/** No honest answer has more levels; one that has is taken for no JSON. */
const mostLevels = 64

/**
 * Reads the envelope of an answer and its rate-limit headers (specification, "Limits").
 *
 * @param scrub takes secrets out of the service's message
 * @param words what to say for an HTTP status where the service has no message
 */
export function parseEnvelope(
  answer: Answer,
  scrub: (text: string) => string,
  words: Record<number, string>,
): Envelope {
  const body = parsed(answer.body)
  const code =
    body !== null && typeof body['code'] === 'number' && Number.isInteger(body['code'])
      ? body['code']
      : null
  const reset = milliseconds(answer.header('X-Retry-After'))
  return {
    body,
    code,
    message: messageOf(answer, body, scrub, words),
    limits: { remaining: wholeNumber(answer.header('X-Ratelimit-Remaining')), resetMs: reset },
    retryAfterMs: reset ?? milliseconds(answer.header('Retry-After')),
  }
}

function parsed(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) && !isDeeper(value, mostLevels) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Whoever walks through a value goes down its levels, and not to any depth. */
function isDeeper(value: Json, levels: number): boolean {
  let level: Json[] = [value]
  for (let i = 0; i < levels; i++)
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    )
  return level.length > 0
}

function messageOf(
  answer: Answer,
  body: JsonObject | null,
  scrub: (text: string) => string,
  words: Record<number, string>,
): string {
  const message = body === null ? undefined : getOwn(body, 'message')
  const text =
    typeof message === 'string' && message !== ''
      ? message
      : (words[answer.status] ?? `HTTP ${answer.status}, no message`)
  // Secrets go first, while they stand whole; then what could drive a terminal.
  return scrub(text)
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, 2000)
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null
}

function milliseconds(seconds: string | null): number | null {
  const number = wholeNumber(seconds)
  return number === null ? null : number * 1000
}
