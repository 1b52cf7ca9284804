import type { IncomingMessage } from 'node:http'
import type { Identity } from '../../core/model/people/identity.ts'
import { isObject, parseJson } from '../../core/model/json.ts'
import {
  buildDecidedJson,
  buildRolloutsJson,
  buildStopJson,
} from '../../outlets/report/apply/rollouts-text.ts'
import { answerJson, answerJsonText, answerText, refuse, type Answer, allow } from './answer.ts'
import {
  allDecisions,
  decisions,
  type AllDecisionName,
  type Controller,
  type DecisionName,
  type RouteContext,
} from '../controller.ts'
import { guard } from './guard.ts'
import { drain, isCrossSite } from './request.ts'
import { isPagePath, routePages } from '../pages/page-routes.ts'
import { identifyBearer } from '../people/identify.ts'
import { createVerifier } from './verify-webhook.ts'

/** GitHub sends no larger body. It is hashed as it arrives and never held. */
const maxWebhookBytes = 25 * 1024 * 1024
/** A decision needs no body, except for a reason; blanks and `{}` are read to their end. */
const maxDecisionBytes = 64 * 1024

/** Returns the path of a request, without its query. */
export function getPath({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  return url.split('?', 1)[0] ?? ''
}

/** Answers a probe: a request of a monitor. Null for others. */
export async function routeProbe(
  incoming: Pick<IncomingMessage, 'url' | 'method' | 'headers'>,
  controller: Controller,
): Promise<Answer | null> {
  const path = getPath(incoming)
  if (path === '/healthz')
    return allow(incoming, 'GET') ?? answerHealth(controller.isHealthy(), 'ok')
  if (path === '/readyz')
    return allow(incoming, 'GET') ?? answerHealth(await controller.findUnready(), 'ready')
  if (path === '/metrics') return allow(incoming, 'GET') ?? answerMetrics(incoming, controller)
  return null
}

/** Answers one request. Errors of the controller are thrown. */
export async function route(incoming: IncomingMessage, context: RouteContext): Promise<Answer> {
  const { controller } = context
  const path = getPath(incoming)
  const probed = await routeProbe(incoming, controller)
  if (probed !== null) return probed
  if (path === '/webhook') return allow(incoming, 'POST') ?? receiveWebhook(incoming, context)
  if (path === '/api' || path.startsWith('/api/')) {
    const found = await authorize(incoming, context)
    const [identity, refused] = 'status' in found ? [null, found] : [found, null]
    return guard(incoming, identity, context, async () =>
      identity === null ? refused : routeApi(incoming, path, controller, identity),
    )
  }
  if (isPagePath(path)) return routePages(incoming, path, context)
  return notFound()
}

async function routeApi(
  incoming: IncomingMessage,
  path: string,
  controller: Controller,
  identity: Identity,
): Promise<Answer> {
  await controller.refuse(identity, 'view', null)
  if (path === '/api/status')
    return allow(incoming, 'GET') ?? answerJson(200, await controller.status())
  if (path === '/api/plan') return allow(incoming, 'GET') ?? answerJsonText(await controller.plan())
  if (path === '/api/rollouts') return allow(incoming, 'GET') ?? listRollouts(controller)
  const all = allDecisions.find((each) => path === `/api/rollouts/all/${each}`)
  if (all !== undefined)
    return allow(incoming, 'POST') ?? decideAll(incoming, all, controller, identity)
  const [id, name, ...others] = path.replace(/^\/api\/rollouts\//, '').split('/')
  const verb = decisions.find((each) => each === name)
  if (!path.startsWith('/api/rollouts/') || !id || verb === undefined || others.length > 0)
    return notFound()
  return allow(incoming, 'POST') ?? decide(incoming, verb, id, controller, identity)
}

async function decide(
  incoming: IncomingMessage,
  verb: DecisionName,
  id: string,
  controller: Controller,
  identity: Identity,
): Promise<Answer> {
  await controller.refuse(identity, verb, id)
  const read = await readDecision(incoming)
  if ('status' in read) return read
  const body = read.toString()
  // A parameter that has no effect could be one that was meant, such as a wave.
  if (!isEmpty(body))
    return refuse(400, 'usage', 'a decision has no parameters: its body must be empty')
  const decided = await controller.decide(verb, id, identity)
  if (decided !== null) return answerJson(200, buildDecidedJson(decided))
  return refuse(404, 'usage', 'there is no such rollout', {
    hint: 'GET /api/rollouts lists the unfinished rollouts.',
  })
}

async function decideAll(
  incoming: IncomingMessage,
  verb: AllDecisionName,
  controller: Controller,
  identity: Identity,
): Promise<Answer> {
  await controller.refuse(identity, `${verb}-all`, null)
  const read = await readDecision(incoming)
  if ('status' in read) return read
  const body = read.toString()
  const parsed = isEmpty(body) ? {} : parseJson(body)
  const { reason = '', ...others } = isObject(parsed) ? parsed : { body }
  const isKnown = typeof reason === 'string' && Object.keys(others).length === 0
  if (!isKnown || (verb === 'resume' && reason !== ''))
    return refuse(400, 'usage', 'expected no body, or for a stop {"reason": "…"}')
  return answerJson(200, buildStopJson(await controller.decideAll(verb, { reason }, identity)))
}

/** Reads the body of a decision, or answers why it is refused. */
async function readDecision(incoming: IncomingMessage): Promise<Buffer | Answer> {
  if (isCrossSite(incoming)) return refuse(403, 'access', 'a web page may not decide')
  const chunks: Uint8Array[] = []
  const isWhole = await drain(incoming, maxDecisionBytes, (chunk) => void chunks.push(chunk))
  return isWhole ? Buffer.concat(chunks) : tooLarge(maxDecisionBytes)
}

function isEmpty(body: string): boolean {
  return ['', '{}'].includes(body.replaceAll(/\s+/g, ''))
}

async function receiveWebhook(incoming: IncomingMessage, context: RouteContext): Promise<Answer> {
  const { controller, webhookSecret = '', clock } = context
  if (webhookSecret === '')
    return refuse(404, 'usage', 'webhooks are off: EDGEWISE_WEBHOOK_SECRET is not set')
  const refuseSignature = () => {
    controller.metrics.countWebhook('refused')
    return refuse(401, 'access', 'the signature is missing, wrong or too old')
  }
  if (isCrossSite(incoming)) return refuseSignature()
  const verifier = createVerifier(incoming.headersDistinct, webhookSecret, clock.now())
  if (verifier === null) return refuseSignature()
  const isWhole = await drain(incoming, maxWebhookBytes, (chunk) => verifier.update(chunk))
  if (!isWhole) {
    controller.metrics.countWebhook('refused')
    return tooLarge(maxWebhookBytes)
  }
  if (!verifier.isSigned()) return refuseSignature()
  controller.metrics.countWebhook('accepted')
  controller.poke()
  return answerText(202, 'accepted')
}

async function authorize(
  incoming: IncomingMessage,
  { token = '', people }: RouteContext,
): Promise<Identity | Answer> {
  if (token === '') return refuse(403, 'access', 'the API is off: EDGEWISE_SERVE_TOKEN is not set')
  const identity = await identifyBearer(incoming, token, people)
  if (identity !== null && identity !== 'absent') return identity
  return refuse(401, 'access', 'the token is missing or wrong', {
    headers: { 'WWW-Authenticate': 'Bearer realm="edgewise"' },
  })
}

async function answerMetrics(
  incoming: Pick<IncomingMessage, 'headers'>,
  { metrics }: Controller,
): Promise<Answer> {
  const isOpen = (incoming.headers.accept ?? '').includes('application/openmetrics-text')
  const { type, text } = await metrics.format(isOpen ? 'openmetrics' : 'prometheus')
  return { status: 200, type, body: text, headers: { Vary: 'Accept' } }
}

function answerHealth(reason: string | null, fine: string): Answer {
  return reason === null ? answerText(200, fine) : answerText(503, reason)
}

async function listRollouts(controller: Controller): Promise<Answer> {
  const [rollouts, stop] = await Promise.all([controller.listRollouts(), controller.findStop()])
  return answerJson(200, buildRolloutsJson(rollouts, stop))
}

function tooLarge(bytes: number): Answer {
  return refuse(413, 'usage', `the body has more than ${bytes} bytes, or ended early`)
}

/** Builds the answer for a path that there is not. */
export function notFound(): Answer {
  return refuse(404, 'usage', 'there is no such route')
}
