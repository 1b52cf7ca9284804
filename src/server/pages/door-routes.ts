import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../model/clock.ts'
import { formatLogin } from '../../report/live/doors.ts'
import type { Answer } from '../answer.ts'
import { isCrossSite } from '../is-cross-site.ts'
import { answerMessage, answerPage, redirect } from './answer-page.ts'
import { readForm } from './read-form.ts'
import type { Sessions } from './sessions.ts'

/** Wait before the answer to a wrong token, ms. */
const wrongTokenMs = 500
/** Pages that a browser may be led to after the login. */
const targets = /^\/(?:plan|history|drift|rollouts(?:\/[\w.~%-]{1,300}(?:\/abort)?)?)?$/

/** Reports whether a page of another origin sends a form. */
export function isForeign(incoming: Pick<IncomingMessage, 'headers'>): boolean {
  const site = incoming.headers['sec-fetch-site']
  return isCrossSite(incoming) || (site !== undefined && site !== 'same-origin' && site !== 'none')
}

/** Begins a session if the form has the token. */
export async function logIn(
  incoming: IncomingMessage,
  sessions: Sessions,
  isSecure: boolean,
  clock: Pick<Clock, 'now' | 'sleep'>,
): Promise<Answer> {
  const form = await readForm(incoming)
  if (form === null) return answerMessage(400, 'Not understood', 'The form is not complete.')
  const asked = form.get('to') ?? ''
  const to = targets.test(asked) ? asked : '/'
  if (sessions.isToken((form.get('token') ?? '').trim()))
    return redirect(to, { 'Set-Cookie': sessions.begin(clock.now(), isSecure) })
  await clock.sleep(wrongTokenMs)
  return answerPage(401, formatLogin(to, { isWrong: true, isFollowed: false }), {
    'WWW-Authenticate': 'Bearer realm="edgewise"',
  })
}

/** Ends the session of a browser. */
export function logOut(sessions: Sessions, isSecure: boolean): Answer {
  return redirect('/', { 'Set-Cookie': sessions.end(isSecure) })
}
