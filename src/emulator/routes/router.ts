import { type Call, type CallCount, unlimitedCount } from '../entities/call.ts'
import { answerPrefetches } from './answer-prefetches.ts'
import { type QueryRules, answerEachDomain, answerTogether } from './answer-statistics.ts'
import { type Faults, answerInstead, chooseDelivery, chooseFaults } from './answer-with-faults.ts'
import { type Parts, answerControl, isControlPath } from './control.ts'
import { type EmulatorAnswer, type EmulatorRequest, JsonText } from './exchange.ts'
import { createExtended } from './extended/extended.ts'
import { refuseLargeBody } from './parse-parameters.ts'
import { Refusal, type RefusalKind, buildRefusalBody } from './refusal.ts'
import type { Body, Incoming, Route } from './route.ts'
import { type WriteRules, writeConfig } from './write-config.ts'
import type { Store } from '../store/store.ts'
import { formatDate } from '../../core/model/time/http-date.ts'
import { isObject } from '../../core/model/json.ts'
import { isLoopback } from '../../core/model/text/url.ts'

export interface ServiceRules extends Omit<WriteRules, 'now'>, Omit<QueryRules, 'now'> {
  /** Whether `/_emulator` answers; only if it listens on loopback. */
  control: boolean
  /** Whether the emulator listens on loopback only. */
  onLoopback: boolean
  /** Creates a value of the `Api-Id` header. */
  requestId: () => string
  /** With `extended`: time that a change of a domain deploys, ms; 0 if absent. */
  deployMs?: number
}

/** Creates the service as a function from requests to answers. */
export function createService(
  parts: Parts,
  given: ServiceRules,
): (request: EmulatorRequest) => Promise<EmulatorAnswer> {
  const { store, clock } = parts
  const rules = { ...given, now: () => clock.now() }
  const extended = rules.extended === true ? createExtended(store, rules) : null
  const count = (now: number) => store.getCallCount(now)
  const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    [
      'POST /v2/domain/config',
      { answer: (incoming) => writeConfig(incoming, store, rules), count },
    ],
    [
      'GET /v2/stat/httpcode/eachDomain',
      { answer: (incoming) => answerEachDomain(incoming, store, rules) },
    ],
    ['GET /v2/stat/httpcode', { answer: (incoming) => answerTogether(incoming, store, rules) }],
    [
      'GET /v2/cache/prefetch',
      { answer: ({ request }) => answerPrefetches(request, store, rules) },
    ],
    ...(extended?.routes ?? []),
  ])
  const handle = async (route: Route, incoming: Incoming) => {
    extended?.admit(rules.now())
    // Queries have their parameters in the query string and ignore any other body.
    if (incoming.request.method === 'GET') refuseLargeBody(incoming.request)
    return route.answer(incoming)
  }

  const answerRequest = async (request: EmulatorRequest): Promise<EmulatorAnswer> => {
    const foreign = findForeign(request, rules.onLoopback)
    if (foreign !== null) return attempt(() => refuse('request-foreign', foreign))
    if (isControlPath(request.path))
      return attempt(async () => answerControl(request, parts, rules.control))
    const { method, path, arrivedAt } = request
    const call: Call = { time: arrivedAt, method, path, status: 0, code: 0, domains: [], items: [] }
    const name = `${method} ${path}`
    const route = routes.get(name)
    const answer = await (route === undefined
      ? attempt(() => refuse('url-wrong', `there is no ${name}`))
      : answerWithFaults(
          (faults) => handle(route, { request, call, faults }),
          request,
          parts,
          rules,
        ))
    store.addCall({ ...call, status: answer.status, code: getCode(answer) })
    const { count: countCalls = () => unlimitedCount, buildHeaders } = route ?? { count }
    const limits = buildLimitHeaders(countCalls(rules.now()))
    const headers = { 'Api-Id': rules.requestId(), ...limits, ...buildHeaders?.() }
    return { ...answer, headers }
  }
  return async (request) => {
    const answer = (await answerAsked(request, store, rules)) ?? (await answerRequest(request))
    return { ...answer, headers: { ...answer.headers, Date: formatDate(rules.now()) } }
  }
}

async function answerWithFaults(
  handle: (faults: Faults) => Promise<Body>,
  request: EmulatorRequest,
  parts: Parts,
  rules: WriteRules,
): Promise<EmulatorAnswer> {
  const faults = await chooseFaults(request, parts.faults, rules.names)
  let instead: EmulatorAnswer | null = null
  const answer = await attempt(async () => {
    instead = await answerInstead(faults)
    return instead === null ? handle(faults) : null
  }, rules.limitStyle)
  if (instead !== null) return instead
  const delivery = chooseDelivery(faults)
  return delivery === undefined ? answer : { ...answer, delivery }
}

async function refuse(kind: RefusalKind, message: string): Promise<never> {
  throw new Refusal(kind, message)
}

async function attempt(
  route: () => Promise<Body>,
  limitStyle: WriteRules['limitStyle'] = 'status',
): Promise<EmulatorAnswer> {
  try {
    return { status: 200, headers: {}, body: await route() }
  } catch (error) {
    if (!(error instanceof Refusal)) return buildFailure(error)
    const status = error.status === 429 && limitStyle === 'body' ? 200 : error.status
    return { status, headers: {}, body: buildRefusalBody(error) }
  }
}

function buildFailure(error: unknown): EmulatorAnswer {
  const message = error instanceof Error ? error.message : String(error)
  const refusal = new Refusal('emulator-failed', `the emulator failed: ${message}`)
  return { status: refusal.status, headers: {}, body: buildRefusalBody(refusal) }
}

/** Returns the `code` of an answer; preformatted text is a success. */
function getCode({ body }: EmulatorAnswer): number {
  const code = !(body instanceof JsonText) && isObject(body) ? body['code'] : 0
  return typeof code === 'number' ? code : 0
}

/**
 * Builds the rate-limit headers of every answer (specification, "Limits"); an unlimited route
 * reports a million.
 */
function buildLimitHeaders({ limit, remaining, resetSeconds }: CallCount): Record<string, string> {
  return {
    'X-Ratelimit-Grad': 'minute',
    'X-Ratelimit-Limit': String(limit),
    'X-Ratelimit-Remaining': String(remaining),
    'X-Retry-After': String(resetSeconds),
  }
}

/**
 * Finds the reason why a request may come from a web page of another origin; null if it does not.
 * A browser would send it for any page that the user visits.
 *
 * @param onLoopback whether the emulator listens on loopback only. The name of another host may
 *   then resolve to this machine to bypass the same-origin policy (DNS rebinding)
 */
function findForeign(
  { host, origin, fetchSite }: EmulatorRequest,
  onLoopback: boolean,
): string | null {
  if (onLoopback && host !== undefined && !isLoopback(parseHostname(host)))
    return 'the Host of the request is not this machine. Use 127.0.0.1, [::1] or localhost.'
  if (origin !== undefined && origin.toLowerCase() !== `http://${host?.toLowerCase()}`)
    return 'the Origin of the request is another site. Web pages may not call the emulator.'
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none')
    return 'the request comes from another site. Web pages may not call the emulator.'
  return null
}

/**
 * Answers a client of a configured domain: of that of its host, or of the nearest wildcard above;
 * null for a call of the service, and for one that a web page sends.
 */
async function answerAsked(
  request: EmulatorRequest,
  store: Store,
  { zone }: Pick<ServiceRules, 'zone'>,
): Promise<EmulatorAnswer | null> {
  const { host = '', path, origin, fetchSite } = request
  const isService = /^(?!\/)|^\/(?:v2|_emulator)(?:\/|$)/.test(path)
  if (isService || origin !== undefined || fetchSite !== undefined) return null
  const name = parseHostname(host)
  const above = [...name.matchAll(/\./g)].map(({ index }) => name.slice(index))
  const domain = [name, ...above].find((each) => store.getItems(each).size > 0)
  if (domain === undefined) return null
  const { answerClient } = await import('./answer-client.ts')
  return answerClient(request, domain, store, zone.name)
}

/** Parses the host of a `Host` header; empty if it is malformed. */
function parseHostname(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:]+)(?::\d+)?$/.exec(host.toLowerCase())?.[1] ?? ''
}
