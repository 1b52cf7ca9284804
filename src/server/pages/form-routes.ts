import type { IncomingMessage } from 'node:http'
import type { Identity } from '../../core/model/people/identity.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import { describeDecided, describeStopped } from '../../outlets/report/apply/rollouts-text.ts'
import { formatLoggedOut, formatLogin } from '../../outlets/report/live/nav.ts'
import type { Answer } from '../http/answer.ts'
import { type DecisionName, type RouteContext, allDecisions, decisions } from '../controller.ts'
import { answerMessage, answerPage, redirect } from './answer-page.ts'
import type { Provider } from '../people/provider.ts'
import type { Sessions, Visit } from './sessions.ts'
import { isCrossSite, readForm } from '../http/request.ts'
import { areEqual } from '../http/verify-webhook.ts'

/** Wait before the answer to a wrong token, ms. */
const wrongTokenMs = 500
/**
 * Pages that a browser may be led to after the login, with their query. A long one would not fit
 * into the cookie of the login.
 */
const targets = [
  /^\/(?:plan|history|drift|domains|rollouts)?(?:\?[!"$-~]{1,1000})?$/,
  /^\/(?:domains|rollouts)\/[\w.~%-]{1,300}(?:\/abort)?(?:\?[!"$-~]{1,1000})?$/,
]

/** Reports whether a page of another origin sends a form. */
export function isForeign(incoming: Pick<IncomingMessage, 'headers'>): boolean {
  const site = incoming.headers['sec-fetch-site']
  return isCrossSite(incoming) || (site !== undefined && site !== 'same-origin' && site !== 'none')
}

/** Chooses the page after a login: what was asked for if it is a page of this server. */
export function chooseTarget(asked: string): string {
  return targets.some((each) => each.test(asked)) ? asked : '/'
}

/** Begins a session if the form has the token. */
export async function logIn(
  incoming: IncomingMessage,
  sessions: Sessions,
  clock: Pick<Clock, 'now' | 'sleep'>,
  provider: Provider | null,
): Promise<Answer> {
  const form = await readForm(incoming)
  if (form === null) return answerMessage(400, 'Not understood', 'The form is not complete.')
  const to = chooseTarget(form.get('to') ?? '')
  if (sessions.isToken((form.get('token') ?? '').trim()))
    return redirect(to, { 'Set-Cookie': sessions.begin(clock.now()) })
  await clock.sleep(wrongTokenMs)
  const known = provider && ('known' as const)
  return answerPage(401, formatLogin(to, { isWrong: true, isFollowed: false, provider: known }), {
    'WWW-Authenticate': 'Bearer realm="edgewise"',
  })
}

/** Ends the session of a browser, and leads a person to the logout of the provider. */
export async function logOut(
  { headers }: Pick<IncomingMessage, 'headers'>,
  sessions: Sessions,
  provider: Pick<Provider, 'findLogout'> | null,
): Promise<Answer> {
  const own = { 'Set-Cookie': sessions.end() }
  const isPerson = sessions.hadPerson(headers.cookie ?? '')
  const place = isPerson && provider !== null ? await provider.findLogout() : null
  // The policy of the pages lets no form lead to another site, but a link.
  return place === null ? redirect('/', own) : answerPage(200, formatLoggedOut(place), own)
}

/** Decides about a rollout, or about all writes of the account, as a form asks for. */
export async function decideByForm(
  incoming: IncomingMessage,
  id: string,
  name: string,
  { controller, clock }: RouteContext,
  { sessions, formToken, identity }: Visit,
): Promise<Answer> {
  const all = allDecisions.find((each) => id === 'all' && each === name)
  const one = decisions.find((each) => each === name)
  if (all === undefined && one === undefined)
    return answerMessage(404, 'Not found', 'There is no such decision.')
  const action = all === undefined ? (one ?? 'pause') : (`${all}-all` as const)
  await controller.refuse(identity, action, all === undefined ? id : null)
  const form = await readForm(incoming)
  const step = form?.get('step') ?? ''
  if (form === null || step === '')
    return answerMessage(400, 'Not understood', 'The form is not complete.')
  if (formToken !== null && !areEqual(form.get('token') ?? '', formToken))
    return answerMessage(403, 'Refused', 'The form is of another session.', {
      hint: 'Nothing was decided. Open the overview again.',
    })
  const decided =
    all === undefined
      ? await decideOne(controller, id, one ?? 'pause', step, identity)
      : describeStopped(
          await controller.decideAll(
            all,
            all === 'stop' ? { reason: form.get('reason') ?? '' } : { seen: step },
            identity,
          ),
        )
  if (decided === null)
    return answerMessage(404, 'Not found', 'There is no such rollout: it has ended.')
  return redirect('/', { 'Set-Cookie': sessions.keepNotice(decided, clock.now()) })
}

/**
 * Decides about a rollout, and describes that; null if there is none. What may send more has to
 * name the step that the reader saw; a pause is safe at any step, and must not come too late.
 */
async function decideOne(
  controller: RouteContext['controller'],
  id: string,
  verb: DecisionName,
  step: string,
  identity: Identity,
): Promise<string | null> {
  const { rollouts } = await controller.pages.overview()
  // Names in the path are compared as they were written into it.
  const open = rollouts.find(({ rollout }) => encodeURIComponent(rollout.id) === id)
  const seen = verb === 'pause' ? undefined : step
  const decided = await controller.decide(verb, open?.rollout.id ?? id, identity, seen)
  return decided && describeDecided(decided)
}
