import { parseNetwork } from '../../catalog/value/formats.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { draw, hashKey } from './chance.ts'
import type { Area } from './traffic.ts'

type Items = ReadonlyMap<ItemKey, Value>

/** What a condition of `combined_ban` says; which of it depends on its kind. */
interface Condition {
  is_match?: 'yes' | 'no'
  method_type?: 'get' | 'post'
  list?: string[]
}

const withoutReferer = 0.25
/** Spellings of "everything" among regular expressions and plain URLs. */
const everything = new Set([
  '.*',
  '^.*$',
  '^.*',
  '.*$',
  '^/.*$',
  '^/.*',
  '/.*',
  '/',
  '^/',
  '*',
  '/*',
])

/**
 * The share of requests that the stored configuration answers with 403. There are no real requests
 * to match with a pattern or an address, so that each entry stands for a share of its own: small,
 * and the same wherever the entry stands.
 */
export function computeDeniedShare(items: Items, area: Area): number {
  const passed = rules.map(([item, share]) => {
    const value = items.get(item)
    return value === undefined ? 1 : 1 - share(value, area)
  })
  return 1 - passed.reduce((product, share) => product * share, 1)
}

const rules: [ItemKey, (value: Value, area: Area) => number][] = [
  ['deny_url', (value) => anyOf((value as { urls: string[] }).urls.map(urlShare))],
  ['ip_black_list', (value) => sumOf((value as { list: string[] }).list.map(addressShare))],
  ['ip_white_list', (value) => 1 - sumOf((value as { list: string[] }).list.map(addressShare))],
  [
    'referer',
    (value) => refererShare(value as { type: number; list: string[]; allow_empty?: boolean }),
  ],
  [
    'combined_ban',
    (value) => anyOf((value as unknown as { configs: Record<string, Condition> }[]).map(banShare)),
  ],
  [
    'user_agent',
    (value) =>
      userAgentShare(
        value as Record<'ua_list' | 'ua_type' | 'allow_empty_ua' | 'url_match_type', string>,
      ),
  ],
  [
    'visit_areas_limit',
    (value, area) => areaShare(value as { limit_type: string; country_list: string }, area),
  ],
]

/** The items that deny requests. */
export const denyingItems: ItemKey[] = rules.map(([item]) => item)

function refererShare({
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
    type === 1 ? sumOf(list.map(() => 0.03)) : 1 - sumOf([0.4, ...list.map(() => 0.05)])
  return empty + (1 - withoutReferer) * listed
}

/** A rule applies to requests that meet all its conditions. */
function banShare({ configs }: { configs: Record<string, Condition> }): number {
  return Object.entries(configs).reduce((product, [kind, condition]) => {
    const share = conditionShare(kind, condition)
    return product * (condition.is_match === 'no' ? 1 - share : share)
  }, 1)
}

function conditionShare(kind: string, { method_type, list = [] }: Condition): number {
  switch (kind) {
    case 'method':
      return method_type === 'post' ? 0.05 : 0.95
    case 'ip':
      return sumOf(list.map(addressShare))
    case 'url':
      return anyOf(list.map(urlShare))
    default:
      return sumOf(list.map((entry) => 0.02 + 0.04 * draw(hashKey(kind, entry), 0)))
  }
}

function userAgentShare(
  value: Record<'ua_list' | 'ua_type' | 'allow_empty_ua' | 'url_match_type', string>,
): number {
  const agents = value.ua_list
    .split('\n')
    .map((agent) => 0.02 + 0.04 * draw(hashKey('ua', agent), 0))
  const denied = value.ua_type === 'black' ? sumOf(agents) : 1 - sumOf([0.4, ...agents])
  const empty = value.allow_empty_ua === 'no' ? 0.02 : 0
  return Math.min(1, denied + empty) * (value.url_match_type === 'all' ? 1 : 0.3)
}

/** Requests from `cn` come from china; those from abroad from the other countries alike. */
function areaShare(
  { limit_type, country_list }: { limit_type: string; country_list: string },
  area: Area,
): number {
  const countries = country_list.split(',').map((name) => name.trim())
  const abroad = countries.filter((name) => name !== 'china')
  const listed =
    area === 'cn' ? Number(abroad.length < countries.length) : Math.min(1, abroad.length / 37)
  return limit_type === 'black' ? listed : 1 - listed
}

function urlShare(pattern: string): number {
  return everything.has(pattern) ? 1 : 0.01 + 0.04 * draw(hashKey('url', pattern), 0)
}

function addressShare(entry: string): number {
  const prefix = parseNetwork(entry)?.prefix ?? 32
  return { 8: 0.2, 16: 0.08, 24: 0.04, 32: 0.02 }[prefix]
}

/** Of conditions that have nothing to do with each other. */
function anyOf(shares: number[]): number {
  return 1 - shares.reduce((product, share) => product * (1 - share), 1)
}

/** Of conditions that exclude each other; never quite everything. */
function sumOf(shares: number[]): number {
  return Math.min(
    0.95,
    shares.reduce((sum, share) => sum + share, 0),
  )
}
