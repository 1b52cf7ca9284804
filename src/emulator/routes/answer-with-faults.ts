import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, type Json, type JsonObject, toList } from '../../core/model/json.ts'
import { parseUrl } from '../../core/model/text/url.ts'
import type { Fault, FaultKind } from '../entities/fault.ts'
import type { FaultPlan, FaultyCall } from '../store/fault-plan.ts'
import type { EmulatorAnswer, EmulatorRequest } from './exchange.ts'
import { parseParameters } from './parse-parameters.ts'
import { Refusal } from './refusal.ts'
import type { WireNames } from './wire-names.ts'

/** The faults of one call. */
export class Faults {
  readonly #all: Fault[]
  readonly #plan: FaultPlan

  constructor(all: Fault[], plan: FaultPlan) {
    this.#all = all
    this.#plan = plan
  }

  find(kind: FaultKind): Fault | undefined {
    return this.#all.find((fault) => fault.kind === kind)
  }

  /** Throws a Refusal if the call exceeds the reduced call rate; `announced` is the regular one. */
  refuseByRate(announced: number, now: number): void {
    const fault = this.find('rate')
    if (fault === undefined) return
    const chosen = fault.on !== undefined || fault.probability !== undefined
    const limit = fault.limit ?? (chosen ? 0 : Math.floor(announced / 2))
    if (!this.#plan.admit(limit, now))
      throw new Refusal('calls-exceeded', 'too many calls. Wait and send it again')
  }
}

/**
 * Chooses the faults of a call. Its domains and items are parsed only if a fault may depend on
 * them.
 */
export async function chooseFaults(
  request: EmulatorRequest,
  plan: FaultPlan,
  names: WireNames,
): Promise<Faults> {
  if (plan.isEmpty) return new Faults([], plan)
  return new Faults(plan.next(await parseNames(request, names)), plan)
}

/**
 * Returns the answer that replaces the handling of the call, after any delay; null if the call is
 * handled.
 */
export async function answerInstead(faults: Faults): Promise<EmulatorAnswer | null> {
  const delay = faults.find('delay')
  if (delay !== undefined) await sleep(delay.ms ?? 1000)
  if (faults.find('reset-before') !== undefined)
    return { status: 0, headers: {}, body: null, delivery: 'reset' }
  const gateway = faults.find('gateway')
  if (gateway !== undefined)
    return { status: gateway.status ?? 403, headers: {}, body: null, delivery: 'not-json' }
  if (faults.find('unauthorized-from') !== undefined)
    throw new Refusal('token-wrong', 'the token is wrong')
  const error = faults.find('error')
  if (error !== undefined)
    throw new Refusal(
      'fault-wanted',
      'the service failed because of a configured fault',
      error.status,
    )
  return null
}

/** Chooses the faulty delivery of an answer, if any. */
export function chooseDelivery(faults: Faults): EmulatorAnswer['delivery'] {
  if (faults.find('reset-after') !== undefined) return 'reset'
  return (['truncated', 'not-json'] as const).find((kind) => faults.find(kind) !== undefined)
}

/** Parses the names in a call; only a call that changes a configuration is a write. */
async function parseNames(request: EmulatorRequest, names: WireNames): Promise<FaultyCall> {
  const { method, path } = request
  const isConfig = path === '/v2/domain/config'
  const write = isConfig && method !== 'GET'
  try {
    const query = method === 'POST' ? [] : [...new URLSearchParams(request.query)]
    const body = method === 'GET' ? {} : await parseParameters(request)
    const given: JsonObject = { ...Object.fromEntries(query), ...body }
    const listed = query.flatMap(([name, value]) => (/^config\[\d*\]$/.test(name) ? [value] : []))
    return {
      write,
      domains: isConfig || method === 'GET' ? splitNames(given['domains']) : listDomains(given),
      items: parseItemNames(given['config'] ?? (isConfig ? listed : []), names),
    }
  } catch (error) {
    // An unparsable call names nothing; the route refuses it.
    if (error instanceof Refusal) return { write, domains: [], items: [] }
    throw error
  }
}

/** Lists the domains in `domains` or `domain`, and those of URLs. */
function listDomains({ domains, domain, urls }: JsonObject): string[] {
  const hosts = toList(urls).flatMap((url) =>
    typeof url === 'string' ? [parseUrl(url)?.hostname ?? ''] : [],
  )
  return [...splitNames(domains ?? domain), ...hosts]
}

function splitNames(names: Json | undefined): string[] {
  return typeof names === 'string' ? names.split(',').map((name) => name.trim().toLowerCase()) : []
}

/** Lists the items that `config` sets or names. */
function parseItemNames(config: Json, names: WireNames): string[] {
  if (isObject(config))
    return Object.entries(config).map(([name, payload]) => names.find(name, payload)?.key ?? name)
  const listed = toList(config)
  return listed.flatMap((name) => (typeof name === 'string' ? [name, ...names.findAll(name)] : []))
}
