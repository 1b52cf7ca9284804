import { parseNetwork } from '../../core/catalog/value/formats.ts'
import type { ItemKey, Value } from '../../core/model/item.ts'
import { draw, hashKey } from './chance.ts'
import type { Area } from './traffic.ts'

type Items = ReadonlyMap<ItemKey, Value>

/** Condition of `combined_ban`; the fields depend on its kind. */
interface Condition {
  is_match?: 'yes' | 'no'
  method_type?: 'get' | 'post'
  list?: string[]
}

/** Rule of `combined_ban`, by the kinds of its conditions. */
interface Ban {
  configs: Record<string, Condition>
}

const withoutReferer = 0.25
/** Spellings of "everything" as regular expressions and plain URLs. */
const everything = /^(?:\^?\/?\.\*\$?|\^?\/|\/?\*)$/

/**
 * Computes the share of requests that the configuration answers with 403. No real requests exist to
 * match with patterns and addresses, so each entry represents a small share, the same
 * everywhere.
 */
export function computeDeniedShare(items: Items, area: Area): number {
  const passed = Object.entries<Rule>(rules).map(([item, computeShare]) => {
    const value = items.get(item)
    return value === undefined ? 1 : 1 - computeShare(value as never, area)
  })
  return 1 - passed.reduce((product, share) => product * share, 1)
}

/** Computes the share that the canonical value of an item denies. */
type Rule = (value: never, area: Area) => number

const rules = {
  deny_url: ({ urls }: { urls: string[] }) => combineIndependent(urls.map(computeUrlShare)),
  ip_black_list: ({ list }: { list: string[] }) => combineExclusive(list.map(computeAddressShare)),
  ip_white_list: ({ list }: { list: string[] }) =>
    1 - combineExclusive(list.map(computeAddressShare)),
  referer: computeRefererShare,
  combined_ban: (bans: Ban[]) => combineIndependent(bans.map(computeBanShare)),
  user_agent: computeUserAgentShare,
  visit_areas_limit: computeAreaShare,
}

/** Items that deny requests. */
export const denyingItems: ItemKey[] = Object.keys(rules)

function computeRefererShare({
  type,
  list,
  allow_empty = true,
}: {
  type: number
  list: string[]
  allow_empty?: boolean
}): number {
  const empty = allow_empty ? 0 : withoutReferer
  const listed =
    type === 1
      ? combineExclusive(list.map(() => 0.03))
      : 1 - combineExclusive([0.4, ...list.map(() => 0.05)])
  return empty + (1 - withoutReferer) * listed
}

/** Computes the share of a rule, which applies to requests that meet all its conditions. */
function computeBanShare({ configs }: Ban): number {
  return Object.entries(configs).reduce((product, [kind, condition]) => {
    const share = computeConditionShare(kind, condition)
    return product * (condition.is_match === 'no' ? 1 - share : share)
  }, 1)
}

function computeConditionShare(kind: string, { method_type, list = [] }: Condition): number {
  switch (kind) {
    case 'method':
      return method_type === 'post' ? 0.05 : 0.95
    case 'ip':
      return combineExclusive(list.map(computeAddressShare))
    case 'url':
      return combineIndependent(list.map(computeUrlShare))
    default:
      return combineExclusive(list.map((entry) => 0.02 + 0.04 * draw(hashKey(kind, entry), 0)))
  }
}

function computeUserAgentShare(
  value: Record<'ua_list' | 'ua_type' | 'allow_empty_ua' | 'url_match_type', string>,
): number {
  const agents = value.ua_list
    .split('\n')
    .map((agent) => 0.02 + 0.04 * draw(hashKey('ua', agent), 0))
  const denied =
    value.ua_type === 'black' ? combineExclusive(agents) : 1 - combineExclusive([0.4, ...agents])
  const empty = value.allow_empty_ua === 'no' ? 0.02 : 0
  return Math.min(1, denied + empty) * (value.url_match_type === 'all' ? 1 : 0.3)
}

/**
 * Computes the share of denied areas: `cn` is the country china, `abroad` all other countries in
 * equal parts.
 */
function computeAreaShare(
  { limit_type, country_list }: { limit_type: string; country_list: string },
  area: Area,
): number {
  const countries = country_list.split(',').map((name) => name.trim())
  const abroad = countries.filter((name) => name !== 'china')
  const listed =
    area === 'cn' ? Number(abroad.length < countries.length) : Math.min(1, abroad.length / 37)
  return limit_type === 'black' ? listed : 1 - listed
}

function computeUrlShare(pattern: string): number {
  return everything.test(pattern) ? 1 : 0.01 + 0.04 * draw(hashKey('url', pattern), 0)
}

function computeAddressShare(entry: string): number {
  const prefix = parseNetwork(entry)?.prefix ?? 32
  return { 8: 0.2, 16: 0.08, 24: 0.04, 32: 0.02 }[prefix]
}

/** Combines the shares of independent conditions. */
function combineIndependent(shares: number[]): number {
  return 1 - shares.reduce((product, share) => product * (1 - share), 1)
}

/** Adds the shares of mutually exclusive conditions; never quite everything. */
function combineExclusive(shares: number[]): number {
  return Math.min(
    0.95,
    shares.reduce((sum, share) => sum + share, 0),
  )
}
