import { formatMessage, type Place } from '../../outlets/report/live/nav.ts'
import { serverPolicy } from '../../outlets/report/page/format-shell.ts'
import type { Clock } from '../../core/model/time/clock.ts'
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

/** Wait for something that is made before a page reports it, ms. */
const ownWaitMs = 4000

/** Waits for something to be made; null if it takes long. */
export async function waitFor<T>(
  made: Promise<T>,
  clock: Pick<Clock, 'sleep'>,
  ms = ownWaitMs,
): Promise<T | null> {
  const isOver = new AbortController()
  const late = clock.sleep(ms, isOver.signal).then(() => null)
  return Promise.race([made, late]).finally(() => isOver.abort())
}

/** Builds an answer that something is being made, which asks again by itself. */
export function answerLater(name: string, place: Place): Answer {
  const wait = 'This page has it as soon as it is made.'
  return answerMessage(202, `The ${name} is being made`, wait, {
    hint: `The ${name} of a large fleet takes up to some minutes.`,
    own: { Refresh: '3' },
    place,
  })
}
