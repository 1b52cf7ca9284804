import type { IncomingMessage } from 'node:http'
import { describeIdentity, type Identity } from '../../core/model/people/identity.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { formatLogin, formatReturn } from '../../outlets/report/live/nav.ts'
import type { Answer } from '../http/answer.ts'
import type { Logger } from '../logger.ts'
import { answerMessage, answerPage, redirect } from '../pages/answer-page.ts'
import { chooseTarget } from '../pages/form-routes.ts'
import type { Sessions } from '../pages/sessions.ts'
import { findOwnAddress } from './identify.ts'
import { describeFault } from './people.ts'
import type { Login, Provider } from './provider.ts'

/** What a login needs. */
export interface LoginContext {
  provider: Provider
  sessions: Sessions
  isSecure: boolean
  clock: Pick<Clock, 'now'>
  logger: Pick<Logger, 'info' | 'warn' | 'scrub'>
  /** Returns the groups that roles name: others are of no use in a session. */
  listGroups(): Promise<ReadonlySet<string>>
}

/** Sends a browser to the provider, and keeps in it what the answer is compared with. */
export async function beginLogin(
  incoming: IncomingMessage,
  { provider, sessions, isSecure, clock, logger }: LoginContext,
): Promise<Answer> {
  const query = new URLSearchParams((incoming.url ?? '').split('?')[1] ?? '')
  const own = findOwnAddress(incoming, isSecure)
  if (own === null)
    return answerMessage(400, 'The login needs https', 'The login goes over https only.', {
      hint: 'A proxy has to pass Host as the browser sent it, and X-Forwarded-Proto: https.',
    })
  try {
    const to = chooseTarget(query.get('to') ?? '')
    const { url, login } = await provider.begin(`${own}/login/callback`, to)
    const kept = sessions.keepLogin(JSON.stringify(login), clock.now())
    return redirect(url, { 'Set-Cookie': kept })
  } catch (error) {
    return answerAway(error, logger)
  }
}

/** Begins a session of the person whom the provider names. */
export async function endLogin(incoming: IncomingMessage, context: LoginContext): Promise<Answer> {
  const { provider, sessions, clock, logger } = context
  const kept = sessions.findLogin(incoming.headers.cookie ?? '', clock.now())
  if (kept === null) return answerFailed('no login has begun in this browser, or long ago')
  // This server has signed it.
  const login = JSON.parse(kept) as Login
  // Whatever comes of it, the same answer begins no second session.
  const dropped = { 'Set-Cookie': sessions.dropLogin() }
  const query = (incoming.url ?? '').split('?')[1] ?? ''
  let person: Identity | null
  try {
    person = await provider.finish(query, login)
  } catch (error) {
    logger.warn('login failed', { error: logger.scrub(describeFault(error), [query]) })
    return answerFailed('the answer of the provider was not accepted', dropped)
  }
  if (person === null) return answerFailed('the provider gives no usable name', dropped)
  const wanted = await context.listGroups()
  const groups = person.groups.filter((group) => wanted.has(group))
  logger.info('login accepted', { by: person.name, groups })
  const session = sessions.beginPerson({ ...person, groups }, clock.now())
  // The browser comes from another site: a redirect would not carry the strict cookie.
  return answerPage(200, formatReturn(login.to, describeIdentity(person)), {
    'Set-Cookie': [session, dropped['Set-Cookie']],
  })
}

function answerFailed(reason: string, own: Record<string, string> = {}): Answer {
  return answerMessage(401, 'The login failed', `The login failed: ${reason}.`, {
    hint: 'Open the overview to try again. The log of the server has more.',
    own,
  })
}

function answerAway(error: unknown, logger: LoginContext['logger']): Answer {
  logger.warn('provider not reached', { error: logger.scrub(describeFault(error)) })
  return answerPage(503, formatLogin('/', { isWrong: false, isFollowed: false, provider: 'away' }))
}
