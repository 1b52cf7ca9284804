import type { Domain, ItemKey, Value } from '../../model/item.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { Call } from '../entities/call.ts'
import { configure, type ItemWrite } from '../entities/configure.ts'
import type { Store } from '../store/store.ts'
import type { Faults } from './answer-with-faults.ts'
import { authenticate } from './authenticate.ts'
import type { EmulatorRequest } from './exchange.ts'
import { createResultRefusal, parseNamedItems, validateItems } from './parse-config.ts'
import { createDomainRefusal, parseDomains } from './parse-domains.ts'
import { parseParameters } from './parse-parameters.ts'
import { Refusal } from './refusal.ts'
import type { WireNames } from './wire-names.ts'

export interface WriteRules {
  token: string | null
  names: WireNames
  lenient: boolean
  /** How a call over the call rate is refused: with HTTP 429, or with HTTP 200 and a code. */
  limitStyle: 'status' | 'body'
  now: () => number
}

/** A write that was found good, and has not been carried out yet. */
interface Judged {
  writes: ItemWrite[]
  /** What it makes of each domain. */
  domains: Map<Domain, Map<ItemKey, Value>>
}

/**
 * Carries out one write on all its domains, or on none (specification, "POST /domain/config"), and
 * returns the body of the answer. Fills in what `call` names. Throws a Refusal: body, then token,
 * then call rate, then parameters.
 */
export async function writeConfig(
  request: EmulatorRequest,
  call: Call,
  store: Store,
  rules: WriteRules,
  faults: Faults,
): Promise<Json> {
  const { token, domains, config } = await parseParameters(request)
  authenticate(rules.token, token, request.query)
  // Nothing waits from here on: what is judged is what is carried out.
  const now = rules.now()
  const { limit, remaining } = store.getCallCount(now)
  if (remaining === 0) throw callsExceeded(store, now)
  faults.refuseByRate(limit, now)
  const judged = judge(domains, config, call, store, rules)
  const refusal = judged instanceof Refusal ? judged : wantedRefusal(judged, faults)
  if (refusal === null)
    return answerOf(
      (judged as Judged).writes,
      store.configure((judged as Judged).domains, now),
      faults,
    )
  const good = judged instanceof Refusal ? new Map() : goodDomains(judged, faults)
  if (good.size > 0) store.configure(good, now)
  else store.countWrite(now)
  throw refusal
}

function judge(
  givenDomains: Json | undefined,
  config: Json | undefined,
  call: Call,
  store: Store,
  rules: WriteRules,
): Judged | Refusal {
  try {
    const domains = parseDomains(givenDomains)
    call.domains = domains
    const named = parseNamedItems(config, rules.names)
    call.items = [...new Set(named.map(({ spec }) => spec.key))]
    const unknown = domains.find((domain) => !store.hasDomain(domain))
    if (unknown !== undefined) throw createDomainRefusal(unknown)
    const writes = validateItems(named, domains, rules.lenient)
    return { writes, domains: configured(domains, writes, store) }
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function callsExceeded(store: Store, now: number): Refusal {
  const { limit, resetSeconds } = store.getCallCount(now)
  return new Refusal(
    'calls-exceeded',
    `expected at most ${limit} calls a minute. Wait ${resetSeconds} seconds and send it again`,
  )
}

/** The refusal of a good write that `refuse` or `partial` asks for. */
function wantedRefusal({ writes, domains }: Judged, faults: Faults): Refusal | null {
  const fault = faults.find('partial') ?? faults.find('refuse')
  if (fault === undefined) return null
  if (fault.named === false) return new Refusal('config-invalid', 'the request is invalid')
  if (fault.kind === 'refuse' && fault.item !== undefined) {
    const name = writes.find(({ spec }) => spec.key === fault.item)?.wireName ?? fault.item
    return new Refusal('item-invalid', `item(${name}) is invalid: refused, as a fault asked for`)
  }
  return createDomainRefusal(fault.domain ?? [...domains.keys()].at(-1) ?? '')
}

/** With `partial`, all domains but the one that the fault names, or else the last. */
function goodDomains({ domains }: Judged, faults: Faults): Judged['domains'] {
  const fault = faults.find('partial')
  if (fault === undefined) return new Map()
  const bad = fault.domain ?? [...domains.keys()].at(-1)
  return new Map([...domains].filter(([domain]) => domain !== bad))
}

/**
 * What the write makes of each domain; nothing is kept before all of them are known to be valid.
 */
function configured(
  domains: Domain[],
  writes: ItemWrite[],
  store: Store,
): Map<Domain, Map<ItemKey, Value>> {
  return new Map(
    domains.map((domain) => {
      const result = configure(store.getItems(domain), writes, domain)
      if ('refused' in result) throw createResultRefusal(result.refused, result.problems, domain)
      return [domain, result.items]
    }),
  )
}

/** Builds the answer to a write; an item of it may place the list of domains beside `data`. */
function answerOf(
  writes: ItemWrite[],
  domains: { id: string; domain: Domain }[],
  faults: Faults,
): Json {
  const fault = faults.find('rewrite')
  const rewrites = (write: ItemWrite) =>
    fault !== undefined && (fault.item ?? write.spec.key) === write.spec.key
  const config: JsonObject = Object.fromEntries(
    writes.map((write) => [
      write.wireName,
      rewrites(write) ? rewritten(answered(write)) : answered(write),
    ]),
  )
  const list = domains.map(({ id, domain }) => ({ id, domain }))
  const atTop = writes.some(({ spec }) => spec.domainsAtTop)
  if (atTop) return { code: 0, data: { config }, domains: list }
  return { code: 0, data: { config, domains: list } }
}

/** An item as the answer shows it: in the shape submitted, unless it has an answer form. */
function answered({ spec, submitted, payload }: ItemWrite): Json {
  return spec.answerForm?.build(payload) ?? submitted
}

/**
 * A value with its first number, text or truth value changed, as a service does that normalises
 * what it is told.
 */
function rewritten(value: Json): Json {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return `${value} (rewritten)`
  if (Array.isArray(value)) return value.map((entry, i) => (i === 0 ? rewritten(entry) : entry))
  if (value === null) return 'rewritten'
  return Object.fromEntries(
    Object.entries(value).map(([key, field], i) => [key, i === 0 ? rewritten(field) : field]),
  )
}
