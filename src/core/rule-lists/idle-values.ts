import type { ItemKey } from '../model/item.ts'
import { isObject, type Json, type JsonObject, toList } from '../model/json.ts'
import type { Settings } from '../trace/readings.ts'
import { matchesAll } from '../trace/match/regex.ts'
import { createRule, type Rule } from '../trace/rule.ts'
import { denySchemes } from '../effects/witness/unserved.ts'
import { coverAddress, listBans } from './any-match.ts'
import { createFinding, createUncompared, nameRule, type Finding } from './finding.ts'
import type { Items } from '../effects/patterns/ranked-rules.ts'
import { findRests, type Rests } from './rests.ts'

/** Fields without an effect beside the others of their object, and why. */
interface Idle {
  fields: string[]
  /** Whether they have no effect. */
  isIdle(value: JsonObject): boolean
  why: string
}

const isOff = (time: string, cached?: string) => (rule: JsonObject) =>
  cached !== undefined && rule[cached] !== undefined ? rule[cached] === 'no' : rule[time] === 0

/**
 * Sentences of the specification about fields without an effect, by item; what an item's own check
 * reports is left out.
 */
const rows: Partial<Record<ItemKey, Idle[]>> = {
  cache_rule: [
    {
      fields: ['ignore_no_cache', 'ignore_expired', 'ignore_query'],
      isIdle: isOff('time'),
      why: 'with time 0, which disables caching',
    },
  ],
  cache_rule_list: [
    {
      fields: ['ignore_no_cache_headers', 'follow_expired'],
      isIdle: isOff('expire', 'cache_or_not'),
      why: 'in a rule that disables caching',
    },
  ],
  visit_timestamp: [
    {
      fields: ['timename', 'keyname'],
      isIdle: ({ req_uri_type: type }) => Number(type) > 2,
      why: 'with a req_uri_type that has time and key in the path',
    },
  ],
  cache_share: [
    {
      fields: ['domain'],
      isIdle: ({ share_way: way }) => way === 'inner_share',
      why: 'with share_way "inner_share"',
    },
  ],
  vendor_origin_auth: [
    {
      fields: ['pattern'],
      isIdle: ({ match_method: method = 'default' }) => method === 'default',
      why: 'with match_method "default", which matches all',
    },
  ],
  cache_error_code: [idleErrors()],
  error_bcache: [idleErrors()],
  rate_limit: [
    {
      fields: ['leading_flow_unit'],
      isIdle: (value) => value['leading_flow_count'] === undefined,
      why: 'without leading_flow_count',
    },
  ],
  smart_compression: ['gzip', 'brotli'].map((name) => ({
    fields: ['rate', 'value', 'unit']
      .map((field) => `${name}_compression_${field}`)
      .concat(`${name}_content_type`),
    isIdle: ({ compression_mode: mode }) => !String(mode).split('&').includes(name),
    why: `with a compression_mode without ${name}`,
  })),
}

function idleErrors(): Idle {
  return {
    fields: ['cache_time', 'cache_unit'],
    isIdle: ({ bcache }) => bcache === 'off',
    why: 'with bcache "off"',
  }
}

/** Values that the canonical form fills in, and that say nothing. */
const defaults: Record<string, Json> = {
  ignore_no_cache: 'off',
  ignore_expired: 'on',
  ignore_query: 'off',
  ignore_no_cache_headers: 'no',
  follow_expired: 'no',
  timename: 'time',
  keyname: 'key',
  pattern: '',
  leading_flow_unit: 'MB',
}

/** Finds fields that the specification gives no effect, and items that defeat each other. */
export function checkValues(items: Items, settings: Settings): Finding[] {
  const idle = [...items].flatMap(([item, value]) =>
    (rows[item] ?? []).flatMap((row) =>
      (Array.isArray(value) ? value : [value]).flatMap((each, i) => {
        if (!isObject(each) || !row.isIdle(each)) return []
        const at = Array.isArray(value) ? `/${i}` : ''
        return row.fields.flatMap((field) => {
          if (each[field] === undefined || each[field] === defaults[field]) return []
          const rule = createRule(item, `${at}/${field}`)
          const detail = `"${field}" has no effect ${row.why}`
          return [createFinding('value-without-effect', rule, detail)]
        })
      }),
    ),
  )
  return [...idle, ...checkAddresses(items, settings), ...checkServed(items, settings)]
}

/** Greatest number of pairs of an address of a ban and one of a list. */
const maxPairs = 100_000

/** Finds networks of bans that overlap, and addresses of the white list that a ban denies. */
function checkAddresses(items: Items, settings: Settings): Finding[] {
  const rests = findUnexempt(items, settings)
  const list = (key: ItemKey) => {
    const value = items.get(key)
    const found = isObject(value) ? value['list'] : []
    return toList(found).map((each, i) => createRule(key, `/list/${i}`, each))
  }
  const [black, white] = [list('ip_black_list'), list('ip_white_list')]
  let pairs = 0
  const found = listBans(items).flatMap(({ configs, pointer, rule }) => {
    const { ip } = configs
    if (!isObject(ip) || !Array.isArray(ip['list']) || ip['is_match'] === 'no') return []
    const isAlone = Object.keys(configs).length === 1
    return ip['list'].flatMap((text, i) => {
      pairs += black.length + white.length
      if (typeof text !== 'string' || pairs > maxPairs) return []
      const own = createRule('combined_ban', `${pointer}/ip/list/${i}`, text)
      const name = `${nameRule(rule)}, ip ${text},`
      const overlaps = black.flatMap((other) => {
        const entry = other.pattern ?? ''
        if (coverAddress(entry, text) === null && coverAddress(text, entry) === null) return []
        const more = { other: [other], ...prove(entry, text) }
        const detail = `${name} overlaps ${nameRule(other)}`
        return [createFinding('networks-overlap', own, detail, more)]
      })
      const denied = white.flatMap((other) => {
        const entry = other.pattern ?? ''
        if (rests === null || !isAlone || coverAddress(text, entry) === null) return []
        const more = { other: [own], rests, ...prove(entry, text) }
        const detail = `${nameRule(other)} is denied by ${name} whatever the white list says`
        return [createFinding('white-list-denied', other, detail, more)]
      })
      return [...overlaps, ...denied]
    })
  })
  return pairs > maxPairs ? [...found, createUncompared('combined_ban')] : found
}

function prove(a: string, b: string): Pick<Finding, 'proof' | 'witness'> {
  const [ip = ''] = (coverAddress(a, b) === null ? a : b).split('/')
  return { proof: 'cidr', witness: { ip } }
}

/** Finds items that together leave no request that is served (request semantics, 3.2 and 3.3). */
function checkServed(items: Items, settings: Settings): Finding[] {
  const rests = findUnexempt(items, settings)
  if (rests === null) return []
  const denied = listDenied(items).map((rule) =>
    createFinding('never-served', rule, `${nameRule(rule)} denies every request`, { rests }),
  )
  const [https, deny] = [items.get('https') ?? null, items.get('deny_protocol') ?? null]
  const why = https === null ? null : denySchemes(deny, https)
  if (why === null) return denied
  const isRefused = why === 'refused'
  const detail = isRefused
    ? 'deny_protocol denies http, and https is refused without a certificate'
    : 'force_https redirects http to https, and deny_protocol denies https'
  const other = createRule('https', isRefused ? '/cert_id' : '/force_https')
  const rule = createRule('deny_protocol', '/protocol')
  return [...denied, createFinding('never-served', rule, detail, { other: [other], rests })]
}

/** Lists the expressions that match every URL, and deny it by themselves. */
function listDenied(items: Items): Rule[] {
  const list = (item: ItemKey, pointer: string, texts: Json | undefined) =>
    toList(texts).flatMap((text, i) =>
      typeof text === 'string' && matchesAll(text)
        ? [createRule(item, `${pointer}/${i}`, text)]
        : [],
    )
  const deny = items.get('deny_url')
  return [
    ...(isObject(deny) ? list('deny_url', '/urls', deny['urls']) : []),
    ...listBans(items).flatMap(({ configs, pointer }) => {
      const { url, ...others } = configs
      if (!isObject(url) || url['is_match'] === 'no' || Object.keys(others).length > 0) return []
      return list('combined_ban', `${pointer}/url/list`, url['list'])
    }),
  ]
}

/** On what it rests that exempt URLs pass no check but those against leeches; null if they do. */
function findUnexempt(items: Items, settings: Settings): Rests | null {
  if (toList(items.get('visit_deny_whitelist')).length === 0) return {}
  return findRests(settings, [18], ({ answers }) => answers[18] === 'anti-leech')
}
