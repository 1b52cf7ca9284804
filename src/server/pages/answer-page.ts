import { formatMessage, type Place } from '../../outlets/report/live/nav.ts'
import { serverPolicy } from '../../outlets/report/page/format-shell.ts'
import type { Answer } from '../http/answer.ts'

const headers = {
  'Content-Security-Policy': serverPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Without any, browsers send forms with the origin "null".
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
}

/** Builds an answer of HTML. */
export function answerPage(
  status: number,
  body: string,
  own: Record<string, string | string[]> = {},
): Answer {
  return { status, type: 'text/html; charset=utf-8', body, headers: { ...headers, ...own } }
}

/** Builds an answer with a message for people, such as an error. */
export function answerMessage(
  status: number,
  title: string,
  message: string,
  { hint = '', own, place }: { hint?: string; own?: Record<string, string>; place?: Place } = {},
): Answer {
  return answerPage(status, formatMessage(title, message, hint, place), own)
}

/** Builds an answer that leads to another page. */
export function redirect(to: string, own: Record<string, string> = {}): Answer {
  return answerPage(303, '', { Location: to, ...own })
}
