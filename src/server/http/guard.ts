import type { IncomingMessage } from 'node:http'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { unidentified, type Identity } from '../../core/model/people/identity.ts'
import type { RouteContext } from '../controller.ts'
import { answerMessage } from '../pages/answer-page.ts'
import { refuse, type Answer } from './answer.ts'
import { groupAddress } from './limited-server.ts'

/**
 * Answers a request within the share of whoever sent it, by the address if nobody is known. What is
 * posted, such as a decision, never waits for what is only looked at.
 *
 * @param session by which holders of the token are distinguished
 */
export async function guard(
  incoming: IncomingMessage,
  identity: Identity | null,
  { shares, signal, controller }: RouteContext,
  work: () => Promise<Answer>,
  session = '',
): Promise<Answer> {
  const { method, headers, socket, url = '' } = incoming
  const own = identity ?? { ...unidentified, name: groupAddress(socket.remoteAddress ?? '') }
  const { knownBy, issuer, sub, name } = own
  const key = JSON.stringify([knownBy, issuer, sub ?? name, knownBy === 'token' ? session : ''])
  const limit = (message: string, seconds: number): Answer => {
    const wait = { 'Retry-After': String(seconds) }
    return url.startsWith('/api')
      ? refuse(429, 'unavailable', message, { headers: wait })
      : answerMessage(429, 'Too many requests', `${message}.`, { own: wait })
  }
  const note = (): void => {
    if (!shares.countRefusal(key)) return
    const reason = 'that many refusals in a minute: nothing is answered for a minute'
    controller.noteRefusal(own, 'other', null, reason)
  }
  // Who shares an address with others, as behind a proxy, must not keep them from the provider.
  const begins = identity === null && method !== 'POST' && headers.authorization === undefined
  if (!begins && shares.isBarred(key))
    return limit('too many requests were refused: wait a minute', 60)
  try {
    const answer = await (method === 'POST' ? work() : shares.run(key, signal, work))
    if (answer === null) return limit('too many requests are being answered already', 1)
    // A session may end; a token or a password that is wrong is an attempt.
    const isAttempt = headers.authorization !== undefined || method === 'POST'
    if (answer.status === 403 || (answer.status === 401 && isAttempt)) note()
    return answer
  } catch (error) {
    if (error instanceof EdgewiseError && error.code === 'not-allowed') note()
    throw error
  }
}
