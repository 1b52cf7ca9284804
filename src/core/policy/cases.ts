import { getOrAdd } from '../model/lists.ts'
import { catalogue } from '../catalog/catalogue.ts'
import type { Change, Write } from '../model/change.ts'
import type { Domain, ItemKey, ItemState, Value } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { computeImpactShare, type Impact } from '../model/traffic.ts'
import type { Case } from './judge.ts'
import { convertValue } from './expression.ts'

/** Numbers values by identity: equal numbers stand for the same value. */
function createNumbering(): (value: unknown) => number {
  const numbers = new Map<unknown, number>()
  return (value) => getOrAdd(numbers, value, () => numbers.size)
}

/** The items of domains. */
export type Configs = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>

/** The configuration of a domain for expressions, and the number of all that equal it. */
interface Config {
  key: number
  value: object
}

function convertItem(item: ItemKey, value: Value): unknown {
  return convertValue(value, catalogue.get(item)?.schema)
}

/** Creates a lookup of configurations, which builds each distinct one once. */
export function createConfigLookup(snapshot: Configs): (domain: Domain) => Config {
  const number = createNumbering()
  const values = new Map<ItemState, unknown>()
  const configs = new Map<string, Config>()
  const convert = (item: ItemKey, state: ItemState) =>
    getOrAdd(values, state, () => convertItem(item, state.candidates[0] ?? null))
  return (domain) => {
    // An item that is unset has no value, as one that is not managed.
    const items = [...(snapshot.get(domain) ?? [])].filter(
      ([, { status, candidates }]) => status !== 'unset' && candidates.length > 0,
    )
    const key = items.map(([, state]) => number(state)).join(' ')
    return getOrAdd(configs, key, () => ({
      key: configs.size,
      value: Object.fromEntries(items.map(([item, state]) => [item, convert(item, state)])),
    }))
  }
}

/** Lists the cases of policies that judge domains. */
export function listDomainCases(
  domains: Iterable<Domain>,
  find: (domain: Domain) => Config,
): Case[] {
  return Array.from(domains, (domain) => {
    const config = find(domain)
    return {
      domain,
      item: null,
      keys: { config: config.key },
      values: { domain: { name: domain }, config: config.value },
    }
  })
}

/** What policies judge of a plan. */
export type Judgeable = Pick<Plan, 'changes' | 'writes' | 'impact'>

/** Lists the cases of policies that judge changes. */
export function listChangeCases(changes: Change[], find: (domain: Domain) => Config): Case[] {
  const number = createNumbering()
  return changes.map((change) => {
    const { domain, item, action, reason, before, after } = change
    const config = find(domain)
    return {
      domain,
      item,
      keys: {
        config: config.key,
        change: `${item} ${action} ${reason} ${number(before)} ${number(after)}`,
      },
      values: {
        domain: { name: domain },
        config: config.value,
        change: convertChange(change),
      },
    }
  })
}

function convertChange({ domain, item, action, reason, before, after }: Change): object {
  return {
    domain,
    item,
    action,
    reason,
    before: convertItem(item, before),
    after: convertItem(item, after),
  }
}

/** Lists the cases of policies that judge writes. */
export function listWriteCases(writes: Write[]): Case[] {
  return writes.map((write) => ({
    domain: write.domains.length === 1 ? (write.domains[0] ?? null) : null,
    item: null,
    keys: {},
    values: { write: convertWrite(write) },
  }))
}

function convertWrite({ id, wave, domains, items }: Write): object {
  const forms = Object.entries(items).map(([item, { name }]) => [item, name])
  return {
    id: BigInt(id),
    wave: BigInt(wave),
    domains,
    items: Object.keys(items),
    forms: Object.fromEntries(forms),
  }
}

/** Converts traffic; what is not known for all domains is no key, so that an expression fails. */
function convertImpact(impact: Impact): object {
  const { requests, unknown, top } = impact
  const share = computeImpactShare(impact)
  return {
    unknown: BigInt(unknown),
    top: BigInt(top),
    ...(unknown === 0 ? { requests: BigInt(requests) } : {}),
    ...(share === null ? {} : { share }),
  }
}

/** Creates the case of policies that judge a whole plan. */
export function createPlanCase({ changes, writes, impact }: Judgeable): Case {
  const distinct = (names: string[]) => [...new Set(names)]
  return {
    domain: null,
    item: null,
    keys: {},
    values: {
      plan: {
        domains: distinct(changes.map(({ domain }) => domain)),
        items: distinct(changes.map(({ item }) => item)),
        changes: changes.map(convertChange),
        writes: writes.map(convertWrite),
        waves: BigInt(new Set(writes.map(({ wave }) => wave)).size),
        ...(impact === undefined ? {} : { impact: convertImpact(impact) }),
      },
    },
  }
}
