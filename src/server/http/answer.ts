import type { ServerResponse, IncomingMessage } from 'node:http'
import { EdgewiseError, type ErrorCode } from '../../core/model/edgewise-error.ts'
import { formatJson, type Json } from '../../core/model/json.ts'
import { buildErrorJson } from '../../outlets/report/diagnostics/json.ts'

/** An answer of a route, before it is sent. */
export interface Answer {
  status: number
  type: string
  body: string
  headers?: Record<string, string | string[]>
}

/** Returns the status for an error: 409 for what the user can change, otherwise 503. */
export function findErrorStatus(code: ErrorCode): number {
  return statuses[code] ?? 503
}

const statuses: Partial<Record<ErrorCode, number>> = {
  'not-allowed': 403,
  usage: 409,
  invalid: 409,
  locked: 409,
  'rollout-open': 409,
  'rollback-unfinished': 409,
  'stale-plan': 409,
  declined: 409,
  guarded: 409,
  stopped: 409,
}

const jsonType = 'application/json; charset=utf-8'

/** Builds an answer of JSON. */
export function answerJson(status: number, body: Json, headers?: Record<string, string>): Answer {
  const text = formatJson(body)
  return { status, type: jsonType, body: text, ...(headers && { headers }) }
}

/** Builds an answer of text that is JSON already. */
export function answerJsonText(body: string): Answer {
  return { status: 200, type: jsonType, body }
}

/** Builds an answer of plain text, one line. */
export function answerText(status: number, text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` }
}

/**
 * Builds the answer for an error; 409 for what the user can change, otherwise 503.
 *
 * @param redact removes secrets from a text
 */
export function answerError(
  { code, message, hint }: EdgewiseError,
  redact: (text: string) => string,
): Answer {
  const cleaned = new EdgewiseError(code, redact(message), redact(hint))
  return answerJson(findErrorStatus(code), buildErrorJson(cleaned))
}

/** Builds the answer of a refused request. */
export function refuse(
  status: number,
  code: ErrorCode,
  message: string,
  { hint = '', headers }: { hint?: string; headers?: Record<string, string> } = {},
): Answer {
  return answerJson(status, buildErrorJson(new EdgewiseError(code, message, hint)), headers)
}

/**
 * Sends an answer, without its body to HEAD. Closes the connection after it if `isLast`, once `end`
 * has resolved.
 */
export function sendAnswer(
  outgoing: ServerResponse,
  answer: Answer,
  { isLast, end }: { isLast: boolean; end: Promise<void> | null },
): void {
  if (outgoing.headersSent || outgoing.destroyed) return
  outgoing.writeHead(answer.status, {
    'Content-Security-Policy': "default-src 'none'",
    ...answer.headers,
    'Content-Type': answer.type,
    'Content-Length': Buffer.byteLength(answer.body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(isLast && { Connection: 'close' }),
  })
  if (end === null) outgoing.end(answer.body)
  else {
    outgoing.write(answer.body)
    void end.then(() => outgoing.end())
  }
}

/** Refuses other methods than one; HEAD is allowed where GET is. */
export function allow(
  { method }: Pick<IncomingMessage, 'method'>,
  allowed: 'GET' | 'POST',
): Answer | null {
  if (method === allowed || (method === 'HEAD' && allowed === 'GET')) return null
  const methods = allowed === 'GET' ? 'GET, HEAD' : allowed
  return refuse(405, 'usage', `the method must be ${methods}`, { headers: { Allow: methods } })
}
