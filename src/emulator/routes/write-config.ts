import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import type { Json, JsonObject } from '../../core/model/json.ts'
import type { Call } from '../entities/call.ts'
import { configure, type ItemWrite } from '../entities/configure.ts'
import type { Store } from '../store/store.ts'
import type { Faults } from './answer-with-faults.ts'
import { applyWrite, type Judged } from './apply-write.ts'
import { openBody } from './authenticate.ts'
import type { Incoming } from './route.ts'
import { createResultRefusal, keepOrders, parseNamedItems, validateItems } from './parse-config.ts'
import { parseDomains, refuseUnknown } from './parse-domains.ts'
import type { WireNames } from './wire-names.ts'

export interface WriteRules {
  /** Null accepts any token that is not empty. */
  token: string | null
  names: WireNames
  /** Drop unknown fields of an item instead of refusing them. */
  lenient: boolean
  /** Whether it offers and takes what some accounts do beyond the specification. */
  extended?: boolean
  /** Refusal of a call over the call rate: HTTP 429, or HTTP 200 with a code. */
  limitStyle: 'status' | 'body'
  now: () => number
}

/** A valid write with its items. */
interface JudgedConfig extends Judged {
  writes: ItemWrite[]
}

/**
 * Applies one write to all its domains, or to none (specification, "POST /domain/config"), and
 * returns the body of the answer. Adds its domains and items to `call`. Throws a Refusal: body
 * first, then token, call rate and parameters.
 */
export async function writeConfig(
  { request, call, faults }: Incoming,
  store: Store,
  rules: WriteRules,
): Promise<Json> {
  const { domains, config } = await openBody(request, rules)
  // No await from here on: the judged state is the one that is changed.
  const { judged, domains: written } = applyWrite(
    () => judge(domains, config, call, store, rules),
    store,
    rules.now(),
    faults,
  )
  return buildAnswer(judged.writes, written, faults)
}

/** Judges a write, of which nothing is stored yet. Throws a Refusal of an invalid one. */
export function judge(
  givenDomains: Json | undefined,
  config: Json | undefined,
  call: Call,
  store: Store,
  rules: WriteRules,
): JudgedConfig {
  const domains = parseDomains(givenDomains)
  call.domains = domains
  const named = parseNamedItems(config, rules.names)
  call.items = [...new Set(named.map(({ spec }) => spec.key))]
  refuseUnknown(domains, store)
  const writes = validateItems(named, rules)
  return {
    writes,
    wireNames: new Map(writes.toReversed().map(({ spec, wireName }) => [spec.key, wireName])),
    domains: configureDomains(domains, writes, store, rules),
  }
}

/** Computes the result for each domain; nothing is stored before all are known to be valid. */
function configureDomains(
  domains: Domain[],
  writes: ItemWrite[],
  store: Store,
  { extended = false }: WriteRules,
): Map<Domain, Map<ItemKey, Value>> {
  return new Map(
    domains.map((domain) => {
      const stored = store.getItems(domain)
      const own = extended
        ? writes.map((each) => keepOrders(each, stored.get(each.spec.key)))
        : writes
      const result = configure(stored, own)
      if ('refused' in result) throw createResultRefusal(result.refused, result.problems, domain)
      return [domain, result.items]
    }),
  )
}

/** Builds the answer to a write; some items place the list of domains beside `data`. */
function buildAnswer(
  writes: ItemWrite[],
  domains: { id: string; domain: Domain }[],
  faults: Faults,
): Json {
  const fault = faults.find('rewrite')
  const isRewritten = (write: ItemWrite) =>
    fault !== undefined && (fault.item ?? write.spec.key) === write.spec.key
  const config: JsonObject = Object.fromEntries(
    writes.map((write) => [
      write.wireName,
      isRewritten(write) ? rewrite(buildAnswerItem(write)) : buildAnswerItem(write),
    ]),
  )
  const list = domains.map(({ id, domain }) => ({ id, domain }))
  const atTop = writes.some(({ spec }) => spec.domainsAtTop)
  if (atTop) return { code: 0, data: { config }, domains: list }
  return { code: 0, data: { config, domains: list } }
}

/** Builds an item of the answer: as submitted, unless it has an answer form. */
function buildAnswerItem({ spec, submitted, payload }: ItemWrite): Json {
  return spec.answerForm?.build(payload) ?? submitted
}

/**
 * Changes the first number, text or boolean of a value, like a service that normalises its input.
 */
function rewrite(value: Json): Json {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return `${value} (rewritten)`
  if (Array.isArray(value)) return value.map((entry, i) => (i === 0 ? rewrite(entry) : entry))
  if (value === null) return 'rewritten'
  return Object.fromEntries(
    Object.entries(value).map(([key, field], i) => [key, i === 0 ? rewrite(field) : field]),
  )
}
