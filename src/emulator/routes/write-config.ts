import type { Domain, ItemKey, Value } from '../../model/item.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Call } from '../entities/call.ts'
import { configure, type ItemWrite } from '../entities/configure.ts'
import type { Store } from '../store/store.ts'
import { authenticate } from './authenticate.ts'
import type { EmulatorRequest } from './exchange.ts'
import { invalidResult, namedItems, validItems } from './read-config.ts'
import { invalidDomain, readDomains } from './read-domains.ts'
import { readParameters } from './read-parameters.ts'
import { Refusal } from './refusal.ts'
import type { WireNames } from './wire-names.ts'

export interface WriteRules {
  token: string | null
  names: WireNames
  lenient: boolean
  now: () => number
}

/**
 * Carries out one write on all its domains, or on none (specification, "POST /domain/config"), and returns the body of the
 * answer. Fills in what `call` names. Throws a Refusal: body, then token, then call rate, then parameters.
 */
export async function writeConfig(request: EmulatorRequest, call: Call, store: Store, rules: WriteRules): Promise<Json> {
  const { token, domains: givenDomains, config } = await readParameters(request)
  authenticate(rules.token, token, request.query)
  if (!store.countWrite(rules.now())) throw callsExceeded(store, rules.now())
  const domains = readDomains(givenDomains)
  call.domains = domains
  const named = namedItems(config, rules.names)
  call.items = [...new Set(named.map(({ spec }) => spec.key))]
  const unknown = domains.find((domain) => !store.knows(domain))
  if (unknown !== undefined) throw invalidDomain(unknown)
  const writes = validItems(named, domains, rules.lenient)
  return answerOf(writes, store.configure(configured(domains, writes, store)))
}

function callsExceeded(store: Store, now: number): Refusal {
  const { limit, resetSeconds } = store.writeCount(now)
  return new Refusal('calls-exceeded', `expected at most ${limit} calls a minute. Wait ${resetSeconds} seconds and send it again`)
}

/** What the write makes of each domain; nothing is kept before all of them are known to be valid. */
function configured(domains: Domain[], writes: ItemWrite[], store: Store): Map<Domain, Map<ItemKey, Value>> {
  return new Map(
    domains.map((domain) => {
      const result = configure(store.itemsOf(domain), writes, domain)
      if ('refused' in result) throw invalidResult(result.refused, result.problems, domain)
      return [domain, result.items]
    }),
  )
}

/** The list of domains stands inside `data`, and at the top of the answer for `combined_ban`. */
function answerOf(writes: ItemWrite[], domains: { id: string; domain: Domain }[]): Json {
  const config: JsonObject = Object.fromEntries(writes.map((write) => [write.wireName, answered(write)]))
  const list = domains.map(({ id, domain }) => ({ id, domain }))
  if (writes.some(({ spec }) => spec.key === 'combined_ban')) return { code: 0, data: { config }, domains: list }
  return { code: 0, data: { config, domains: list } }
}

/** An item as the answer shows it: in the shape submitted, but for `visit_deny_whitelist`. */
function answered({ spec, submitted, payload }: ItemWrite): Json {
  if (spec.key !== 'visit_deny_whitelist' || !Array.isArray(payload)) return submitted
  const on = new Map(payload.filter(isObject).map((entry) => [entry['url'] ?? null, entry['turn_on'] === true]))
  return { url: [...on].flatMap(([url, turnedOn]) => (turnedOn ? [url] : [])) }
}
