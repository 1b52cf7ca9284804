import { isObject, type Json } from '../../model/json.ts'
import type { Call } from '../entities/call.ts'
import type { Store } from '../store/store.ts'
import { control, isControl } from './control.ts'
import type { EmulatorAnswer, EmulatorRequest } from './exchange.ts'
import { Refusal, refusalBody } from './refusal.ts'
import { writeConfig, type WriteRules } from './write-config.ts'

export interface ServiceRules extends WriteRules {
  control: boolean
  requestId: () => string
}

/** One endpoint of the service: the body of its answer, or a Refusal. It fills in what the call names. */
type Route = (request: EmulatorRequest, call: Call) => Promise<Json>

/** The service as a function: what it answers to a request. What changed is durable before it answers. */
export function createService(store: Store, rules: ServiceRules): (request: EmulatorRequest) => Promise<EmulatorAnswer> {
  const routes = new Map<string, Route>([['POST /v2/domain/config', (request, call) => writeConfig(request, call, store, rules)]])

  return async (request) => {
    if (isControl(request.path)) return attempt(async () => control(request, store, rules.control), store)
    const { method, path, arrivedAt } = request
    const call: Call = { time: arrivedAt, method, path, status: 0, code: 0, domains: [], items: [] }
    const route = routes.get(`${method} ${path}`) ?? wrongUrl
    const answer = await attempt(() => route(request, call), store)
    const code = isObject(answer.body) ? answer.body['code'] : undefined
    store.addCall({ ...call, status: answer.status, code: typeof code === 'number' ? code : 0 })
    return { ...answer, headers: limitHeaders(store, rules) }
  }
}

async function wrongUrl({ method, path }: EmulatorRequest): Promise<Json> {
  throw new Refusal('url-wrong', `there is no ${method} ${path}`)
}

async function attempt(route: () => Promise<Json>, store: Store): Promise<EmulatorAnswer> {
  try {
    const answer = await settled(route)
    store.flush()
    return answer
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return refused(new Refusal('emulator-failed', `the emulator failed: ${message}`))
  }
}

/** A refusal is an answer as well, and the call that it counted has to be durable too. */
async function settled(route: () => Promise<Json>): Promise<EmulatorAnswer> {
  try {
    return { status: 200, headers: {}, body: await route() }
  } catch (error) {
    if (error instanceof Refusal) return refused(error)
    throw error
  }
}

function refused(refusal: Refusal): EmulatorAnswer {
  return { status: refusal.status, headers: {}, body: refusalBody(refusal) }
}

/** The headers that every answer of the service has (specification, "Limits"). */
function limitHeaders(store: Store, rules: ServiceRules): Record<string, string> {
  const { limit, remaining, resetSeconds } = store.writeCount(rules.now())
  return {
    'Api-Id': rules.requestId(),
    'X-Ratelimit-Grad': 'minute',
    'X-Ratelimit-Limit': String(limit),
    'X-Ratelimit-Remaining': String(remaining),
    'X-Retry-After': String(resetSeconds),
  }
}
