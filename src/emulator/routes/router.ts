import { formatDate } from '../../model/http-date.ts'
import { isObject } from '../../model/json.ts'
import { unlimitedCount, type CallCount } from '../entities/call-window.ts'
import type { Call } from '../entities/call.ts'
import { answerInstead, chooseDelivery, chooseFaults, type Faults } from './answer-with-faults.ts'
import type { Parts } from './parts.ts'
import type { Store } from '../store/store.ts'
import { answerControl, isControlPath } from './control.ts'
import { JsonText, type EmulatorAnswer, type EmulatorRequest } from './exchange.ts'
import { createExtended, type Extended } from './extended/extended.ts'
import { findForeign } from './find-foreign.ts'
import { answerPrefetches } from './answer-prefetches.ts'
import { refuseLargeBody } from './parse-parameters.ts'
import { answerEachDomain, answerTogether, type QueryRules } from './answer-statistics.ts'
import { Refusal, buildRefusalBody } from './refusal.ts'
import { writeConfig, type WriteRules } from './write-config.ts'

export interface ServiceRules extends Omit<WriteRules, 'now'>, Omit<QueryRules, 'now'> {
  control: boolean
  /** Whether the emulator listens on loopback only. */
  onLoopback: boolean
  requestId: () => string
  /** With `extended`: time that a change of a domain deploys, ms. */
  deployMs?: number
}

type Body = EmulatorAnswer['body']
/**
 * One endpoint of the service: returns the body of its answer, or throws a Refusal. Adds the
 * domains and items of the request to `call`.
 */
type Route = (request: EmulatorRequest, call: Call, faults: Faults) => Promise<Body>

const write = 'POST /v2/domain/config'

/**
 * Creates the service as a function from requests to answers. Changes are durable before an answer
 * is returned that could depend on them, whichever request made them.
 */
export function createService(
  parts: Parts,
  given: ServiceRules,
): (request: EmulatorRequest) => Promise<EmulatorAnswer> {
  const { store, clock } = parts
  const rules = { ...given, now: () => clock.now() }
  const extended = rules.extended === true ? createExtended(store, rules) : null
  const specified = new Map<string, Route>([
    [write, (request, call, faults) => writeConfig(request, call, store, rules, faults)],
    [
      'GET /v2/stat/httpcode/eachDomain',
      createQueryRoute((request, call, faults) =>
        answerEachDomain(request, call, store, rules, faults),
      ),
    ],
    [
      'GET /v2/stat/httpcode',
      createQueryRoute((request, call, faults) =>
        answerTogether(request, call, store, rules, faults),
      ),
    ],
    [
      'GET /v2/cache/prefetch',
      createQueryRoute((request) => answerPrefetches(request, store, rules)),
    ],
  ])
  const routes = extended === null ? specified : addRoutes(specified, extended, rules.now)

  const answerRequest = async (request: EmulatorRequest): Promise<EmulatorAnswer> => {
    const foreign = findForeign(request, rules.onLoopback)
    if (foreign !== null) return attempt(() => refuseForeign(foreign))
    if (isControlPath(request.path))
      return attempt(async () => answerControl(request, parts, rules.control))
    const { method, path, arrivedAt } = request
    const call: Call = { time: arrivedAt, method, path, status: 0, code: 0, domains: [], items: [] }
    const name = `${method} ${path}`
    const route = routes.get(name)
    const answer = await (route === undefined
      ? attempt(() => refuseUrl(request))
      : answerWithFaults(route, request, call, parts, rules))
    store.addCall({ ...call, status: answer.status, code: getCode(answer) })
    const now = rules.now()
    const beyond = extended?.routes.get(name)
    const isLimited = route === undefined || name === write
    const count = beyond?.count(now) ?? (isLimited ? store.getCallCount(now) : unlimitedCount)
    return {
      ...answer,
      headers: {
        'Api-Id': rules.requestId(),
        ...buildLimitHeaders(count),
        ...beyond?.buildHeaders(),
      },
    }
  }
  return async (request) => {
    const answered = await answerRequest(request)
    const answer = store.isDurable ? answered : await answerDurably(answered, store)
    return { ...answer, headers: { ...answer.headers, Date: formatDate(rules.now()) } }
  }
}

/** Adds the routes beyond the specification, whose account has a limit of all of its calls. */
function addRoutes(
  specified: ReadonlyMap<string, Route>,
  { routes, admit }: Extended,
  now: () => number,
): ReadonlyMap<string, Route> {
  const beyond = [...routes].map(([name, { answer }]): [string, Route] => [
    name,
    async (...call) => answer(...call),
  ])
  return new Map(
    [...specified, ...beyond].map(([name, route]): [string, Route] => [
      name,
      async (...call) => {
        admit(now())
        return route(...call)
      },
    ]),
  )
}

function createQueryRoute(
  read: (request: EmulatorRequest, call: Call, faults: Faults) => Body,
): Route {
  return async (request, call, faults) => {
    refuseLargeBody(request)
    return read(request, call, faults)
  }
}

async function answerWithFaults(
  route: Route,
  request: EmulatorRequest,
  call: Call,
  parts: Parts,
  rules: WriteRules,
): Promise<EmulatorAnswer> {
  const faults = await chooseFaults(request, parts.faults, rules.names)
  let instead: EmulatorAnswer | null = null
  const answer = await attempt(async () => {
    instead = await answerInstead(faults)
    return instead === null ? route(request, call, faults) : null
  }, rules.limitStyle)
  if (instead !== null) return instead
  const delivery = chooseDelivery(faults)
  return delivery === undefined ? answer : { ...answer, delivery }
}

async function refuseUrl({ method, path }: EmulatorRequest): Promise<Body> {
  throw new Refusal('url-wrong', `there is no ${method} ${path}`)
}

async function refuseForeign(reason: string): Promise<Body> {
  throw new Refusal('request-foreign', reason)
}

/** Returns an answer once all changes are durable, or a refusal if they are not. */
async function answerDurably(answer: EmulatorAnswer, store: Store): Promise<EmulatorAnswer> {
  try {
    await store.sync()
    return answer
  } catch (error) {
    return buildFailure(error)
  }
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
