import type { Rollout } from '../../core/model/rollout.ts'
import type { IncomingMessage } from 'node:http'
import type { OpenRollout, Overview } from '../../core/model/listed-rollout.ts'
import {
  formatLogin,
  formatNav,
  formatStranger,
  type Place,
} from '../../outlets/report/live/nav.ts'
import {
  formatAbortPage,
  formatEndedPage,
  formatOverview,
  formatRolloutList,
  formatRolloutPage,
  type Frame,
} from '../../outlets/report/live/overview.ts'
import { lowerAscii } from '../../core/model/text/lower-ascii.ts'
import { formatTime } from '../../core/model/text/words.ts'
import { answerJson, refuse, type Answer, allow } from '../http/answer.ts'
import type { RouteContext } from '../controller.ts'
import { guard } from '../http/guard.ts'
import { answerLater, answerMessage, answerPage, redirect, waitFor } from './answer-page.ts'
import { answerDomains } from './domain-routes.ts'
import { explainDecisions } from './explain-decisions.ts'
import { chooseTarget, isForeign, logIn, logOut, decideByForm } from './form-routes.ts'
import type { BuiltPage } from './built-page.ts'
import type { DomainPages } from './domain-pages.ts'
import { computeRevisions, isCurrent, type PageSource } from './create-page-source.ts'
import { identifyBearer } from '../people/identify.ts'
import { beginLogin, endLogin, type LoginContext } from '../people/login-routes.ts'
import type { Provider } from '../people/provider.ts'
import { createSessions, type Sessions, type Visit } from './sessions.ts'

const paths = /^\/(?:|plan|history|drift|live|login(?:\/provider|\/callback)?|logout)$/
const families = /^\/(?:domains|rollouts)(?:\/.*)?$/

/** Wait for what is left to change before a page has that of earlier, ms. */
const refreshMs = 500

/** Returns whether a path is one of the pages, for people. */
export function isPagePath(path: string): boolean {
  return paths.test(path) || families.test(path)
}

/** Answers a request of a page. Errors of the controller are thrown. */
export async function routePages(
  incoming: IncomingMessage,
  path: string,
  context: RouteContext,
): Promise<Answer> {
  const { token = '', clock } = context
  if (token === '')
    return answerMessage(403, 'The pages are off', 'EDGEWISE_SERVE_TOKEN is not set.', {
      hint: 'Set it to a random text of at least 16 characters, and restart edgewise serve.',
    })
  const { headers } = incoming
  const [scheme = ''] = String(headers['x-forwarded-proto'] ?? '').split(',')
  const isSecure = lowerAscii(scheme.trim()) === 'https'
  const sessions = createSessions(token, isSecure)
  if (incoming.method === 'POST' && isForeign(incoming))
    return answerMessage(403, 'Refused', 'A page of another site sent this form.', {
      hint: 'A proxy has to pass the header Host as the browser sent it.',
    })
  const provider = context.people?.provider ?? null
  const cookies = headers.cookie ?? ''
  if (path.startsWith('/log'))
    return guard(incoming, null, context, async () => {
      if (path === '/login')
        return allowPage(incoming, 'POST') ?? logIn(incoming, sessions, clock, provider)
      if (path === '/logout')
        return allowPage(incoming, 'POST') ?? logOut(incoming, sessions, provider)
      return routeLogin(incoming, path, context, { provider, sessions, isSecure })
    })
  const found = await findVisitor(incoming, context, sessions)
  const show = async (): Promise<Answer> => {
    if (found === null) {
      const returns = path !== '/live' && incoming.method === 'GET' && provider !== null
      if (returns && sessions.hadPerson(cookies, clock.now()))
        return redirect(`/login/provider?to=${encodeURIComponent(findTarget(incoming, path))}`)
      return askToLogIn(incoming, path, provider !== null)
    }
    const hidden = await context.controller.rights.explain(found.identity, 'view', null)
    if (hidden === null) return routeVisit(incoming, path, context, { ...found, sessions, cookies })
    context.controller.noteRefusal(found.identity, 'view', null, hidden)
    if (path === '/live') return refuse(403, 'not-allowed', hidden)
    return answerPage(403, formatStranger(hidden))
  }
  return guard(incoming, found?.identity ?? null, context, show, found?.formToken ?? '')
}

/** Finds who asks for a page, and the token of that visitor's forms; null for nobody. */
async function findVisitor(
  incoming: IncomingMessage,
  { token = '', clock, people }: RouteContext,
  sessions: Sessions,
): Promise<Pick<Visit, 'identity' | 'formToken'> | null> {
  const bearer = await identifyBearer(incoming, token, people)
  if (bearer !== null && bearer !== 'absent') return { identity: bearer, formToken: null }
  const session = sessions.find(incoming.headers.cookie ?? '', clock.now())
  if (session !== null)
    return { identity: sessions.identify(session), formToken: sessions.buildFormToken(session) }
  const user = people?.identifyByProxy(incoming) ?? null
  return user && { identity: user, formToken: sessions.buildProxyToken(user.name) }
}

async function routeLogin(
  incoming: IncomingMessage,
  path: string,
  { clock, controller }: RouteContext,
  own: Pick<LoginContext, 'sessions' | 'isSecure'> & { provider: Provider | null },
): Promise<Answer> {
  const refused = allowPage(incoming, 'GET')
  if (refused !== null) return refused
  const { provider } = own
  if (provider === null)
    return answerMessage(404, 'Not found', 'No provider is configured under serve.auth.')
  const { logger, rights } = controller
  const listGroups = async () => {
    const { sets } = await rights.findRules()
    return new Set(sets.flatMap(({ roles }) => roles.flatMap(({ groups }) => groups)))
  }
  const context = { ...own, provider, clock, logger, listGroups }
  return path === '/login/provider' ? beginLogin(incoming, context) : endLogin(incoming, context)
}

async function routeVisit(
  incoming: IncomingMessage,
  path: string,
  context: RouteContext,
  visit: Visit,
): Promise<Answer> {
  const [, part, id, verb, ...others] = path.split('/')
  const isDecision = part === 'rollouts' && id !== undefined && verb !== undefined
  if (incoming.method === 'POST' && isDecision && others.length === 0)
    return decideByForm(incoming, id, verb, context, visit)
  const refused = allowPage(incoming, 'GET')
  if (refused !== null) return refused
  const { pages } = context.controller
  const overview = await pages.overview()
  const revisions = computeRevisions(overview)
  const { commit, rollouts: all } = overview
  const at = new Date(context.clock.now()).toISOString()
  const place = {
    path: '/',
    watches: 'overview',
    revision: revisions.overview,
    commit,
    at,
    ...(visit.identity.knownBy === 'token' ? {} : { who: visit.identity.name }),
  } as const
  const rollouts = { ...place, path: '/rollouts' } as const
  if (path === '/' || part === 'rollouts') await refresh(pages, revisions, context)
  if (path === '/live') return answerJson(200, { format: 'edgewise.live/1', commit, revisions })
  if (path === '/plan') return answerOwn('plan', context, place)
  if (path === '/history') return answerOwn('history', context, place)
  if (part === 'domains')
    return answerDomains(verb === undefined ? (id ?? null) : '', incoming, context, {
      place,
      rollouts: all,
    })
  if (path === '/drift') return answerDrift(overview, await pages.drift(), revisions.drift, place)
  if (path === '/')
    return answerFramed(place, context, visit, all, (frame) =>
      formatOverview(overview, frame, describeFleet(pages.getDomains(), revisions)),
    )
  if (path === '/rollouts')
    return answerFramed(rollouts, context, visit, all, (frame) =>
      formatRolloutList(overview, frame),
    )
  const isIt = (rollout: Rollout) => encodeURIComponent(rollout.id) === id
  const [open, past] = [all.find(({ rollout }) => isIt(rollout)), overview.ended.find(isIt)]
  if (open === undefined && past !== undefined && verb === undefined)
    return answerFramed(rollouts, context, visit, [], (frame) =>
      formatEndedPage(past, overview, frame),
    )
  if (open === undefined || others.length > 0 || (verb !== undefined && verb !== 'abort'))
    return answerMessage(404, 'Not found', 'There is no such page or rollout.', {
      hint: 'Of the rollouts that have ended, the latest have a page.',
    })
  if (verb === undefined)
    return answerFramed(rollouts, context, visit, [open], (frame) => formatRolloutPage(open, frame))
  if (open.listed.state === 'rolling-back')
    return answerMessage(409, 'Not possible', 'Its rollback has begun, and has to be finished.')
  return answerFramed(rollouts, context, visit, [open], (frame) => formatAbortPage(open, frame))
}

/** Makes what is left to change anew, and waits a little if there is an old one. */
async function refresh(
  pages: PageSource,
  revisions: ReturnType<typeof computeRevisions>,
  { clock }: Pick<RouteContext, 'clock'>,
): Promise<void> {
  const known = pages.getDomains()
  if (isCurrent(known, revisions)) return
  // Who asks for the pages of domains gets the error.
  const made = pages.refresh().catch(() => undefined)
  if (known !== null) await waitFor(made, clock, refreshMs)
}

/** Describes the fleet by the last pages of its domains, and when they were made if that is old. */
function describeFleet(built: DomainPages | null, revisions: ReturnType<typeof computeRevisions>) {
  if (built === null) return null
  return { ...built.list, before: isCurrent(built, revisions) ? null : built.at }
}

/** Answers with a page that is made, or with one that asks again: proxies do not wait long. */
async function answerOwn(
  page: 'plan' | 'history',
  { controller, clock }: RouteContext,
  place: Place,
): Promise<Answer> {
  const built = await waitFor(controller.pages[page](), clock)
  if (built === null) return answerLater(page, { ...place, path: `/${page}` })
  const { at, commit, revision } = built
  const own = { path: `/${page}`, watches: 'plan', revision, commit, at } as const
  return answerBuilt(built, { ...place, ...own })
}

function answerBuilt(built: BuiltPage, place: Place): Answer {
  return answerPage(200, built.format(formatNav(place)))
}

function answerDrift(
  { drift }: Overview,
  built: BuiltPage | null,
  revision: string,
  place: Place,
): Answer {
  if (built !== null) {
    const { at, commit } = built
    return answerBuilt(built, { ...place, path: '/drift', watches: 'drift', revision, commit, at })
  }
  const why =
    drift === null
      ? 'Drift was not looked for yet.'
      : `The page of the check at ${formatTime(drift.at)} is too large for other replicas than ` +
        'the leader that made it.'
  const hint = 'serve.drift.schedule of edgewise.yaml configures when the leader looks for it.'
  const own = { ...place, path: '/drift', watches: 'drift', revision } as const
  const title = drift === null ? 'No drift check yet' : 'The drift check is elsewhere'
  return answerMessage(200, title, why, { hint, place: own })
}

/** Answers with a page that shows the result of a decision once. */
async function answerFramed(
  place: Place,
  { controller, clock }: RouteContext,
  { sessions, cookies, formToken, identity }: Visit,
  rollouts: OpenRollout[],
  format: (frame: Frame) => string,
): Promise<Answer> {
  const notice = sessions.findNotice(cookies, clock.now())
  const listEvents = (rollout: string) => controller.pages.listEvents(rollout)
  const explain = await explainDecisions(rollouts, identity, controller.rights)
  const built = controller.pages.getDomains()
  const open = built === null ? null : { changes: built.list.changes, at: built.at }
  const html = format({ place, token: formToken, notice, listEvents, open, explain })
  return answerPage(200, html, notice === null ? {} : { 'Set-Cookie': sessions.dropNotice() })
}

function askToLogIn(incoming: IncomingMessage, path: string, hasProvider: boolean): Answer {
  const own = { 'WWW-Authenticate': 'Bearer realm="edgewise"' }
  if (path === '/live')
    return refuse(401, 'access', 'the session has ended, or there was none', { headers: own })
  const isFollowed =
    incoming.headers['sec-fetch-site'] === 'cross-site' && incoming.method === 'GET'
  const to = incoming.method === 'POST' ? '/' : findTarget(incoming, path)
  const provider = hasProvider ? 'known' : null
  return answerPage(401, formatLogin(to, { isWrong: false, isFollowed, provider }), own)
}

/** Finds where the login leads: the page with its query if it may have one. */
function findTarget({ url = '' }: IncomingMessage, path: string): string {
  return chooseTarget(url) === url ? url : path
}

function allowPage(incoming: IncomingMessage, allowed: 'GET' | 'POST'): Answer | null {
  const refused = allow(incoming, allowed)
  if (refused === null) return null
  const methods = allowed === 'GET' ? 'GET, HEAD' : allowed
  return answerMessage(405, 'Not possible', `The method must be ${methods}.`, {
    own: { Allow: methods },
  })
}
