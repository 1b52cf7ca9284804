import { parseAddressBits, parseNetwork } from '../catalog/value/formats.ts'
import { sortUnique } from '../catalog/value/canonical.ts'
import { castAccepted } from '../catalog/item-spec.ts'
import type { ItemKey } from '../model/item.ts'
import { isObject, pickDefined, type Json, type JsonObject, toList } from '../model/json.ts'
import { isUnknownValue, type Candidate } from '../trace/candidates.ts'
import { isSecret, type Text } from '../model/secret.ts'
import { canonicalizeJson } from '../model/text/canonical-json.ts'
import { lowerAscii } from '../model/text/lower-ascii.ts'
import { splitText } from '../trace/secret-text.ts'
import { parseAddress } from '../trace/request.ts'
import { compileRuleList, compileRules, type CompiledRule } from '../trace/stages/cache.ts'
import { readErrors } from '../trace/stages/stored.ts'

/** A pattern for URLs within an effective form. */
export interface PatternForm {
  kind: 'all' | 'ext' | 'dir' | 'route' | 'regex' | 'secret'
  /** Of a secret the reference. */
  text: string
  /** Whether case is ignored, or the reading that says so: `R6`, `R24:no`, `R25:yes`. */
  folds: boolean | string
  /** What a regular expression sees, by its own rule or R5. */
  sees: 'W' | 'Q' | 'R5'
  /** How much of it must match, by its own rule or R4; `deny_url`: or the whole as a text. */
  extent: 'R4' | 'search' | 'R27'
}

/** Name of the field that holds patterns of which any one must match. */
export const anyPattern = '$anyPattern'

/**
 * Reads what the request semantics read of a value: equal forms give equal answers to every
 * request, under all settings. What is not read is left out, and sets are sorted.
 */
export function readEffective(key: ItemKey, candidate: Candidate): Json {
  if (candidate === null || isUnknownValue(candidate)) return candidate
  if (Array.isArray(candidate) && candidate.length === 0) return null
  const [value, list] = [castAccepted<JsonObject>(candidate), castAccepted<JsonObject[]>(candidate)]
  const form = forms[key]
  return form === undefined ? candidate : form(value, list)
}

/** Reads a value that is an object, or a list of objects. */
type Form = (value: JsonObject, list: JsonObject[]) => Json

const forms: Record<ItemKey, Form | undefined> = {
  https: ({ cert_id: id, force_https: force = 0, ...rest }) =>
    id === 0 ? null : { id: true, force, ...rest },
  range_back_source: (value) => (castAccepted<string>(value) === 'on' ? null : 'off'),
  ip_black_list: ({ list }) => orNull(mergeNetworks(list)),
  ip_white_list: ({ list }) => orNull(mergeNetworks(list)),
  visit_areas_limit: ({ limit_type, country_list: list }) => ({
    limit_type: limit_type ?? null,
    countries: splitSorted(list, ','),
  }),
  user_agent: ({ ua_list: list, url_pattern: text, url_match_type: kind, ...rest }) => ({
    ...omit(rest, ['url_case_insensitive']),
    lines: splitSorted(list, '\n'),
    at: patterns(kind, [text ?? ''], `R25:${String(rest['url_case_insensitive'])}`, 'R5', 'R4'),
  }),
  visit_timestamp: ({ key: keys, style, timename, keyname, ...rest }) => ({
    ...omit(rest, ['error_page']),
    at: buildPattern('regex', rest['pattern'], 'R6', 'W'),
    ...(Number(rest['req_uri_type']) < 3 ? pickDefined({ timename, keyname }) : {}),
    key: typeof keys === 'string' ? splitSorted(keys, ' ') : (keys ?? null),
    style: style === undefined || style === '' ? '$ourkey$uri$time' : style,
  }),
  combined_ban: (_, bans) => sortUnique(bans.map(({ configs }) => formBan(configs))),
  deny_url: ({ urls }) => patterns('regex', toList(urls), 'R6', 'W', 'R27'),
  visit_deny_whitelist: (_, entries) => sortUnique(entries.map(({ url }) => url ?? null)),
  client_real_ip: ({ head }) => lower(head),
  cache_rule: (_, rules) =>
    compileRules(castAccepted(rules)).map((rule, i) => {
      const { type, pattern } = rules[i] ?? {}
      const at = buildPattern(kinds[Number(type)] ?? '', pattern, 'R6', 'W')
      return { ...formCacheRule(rule), at }
    }),
  cache_rule_list: (_, rules) => {
    const formed = compileRuleList(castAccepted(rules)).map((rule, i) => {
      const {
        match_method: kind = '',
        pattern,
        priority = null,
        case_ignore: folds,
      } = rules[i] ?? {}
      const at = buildPattern(kind, pattern, folds !== 'no', 'R5')
      return { priority, form: { ...formCacheRule(rule), at } }
    })
    const ranked = formed.filter(({ priority }) => priority !== null)
    return {
      ranked: ranked
        .toSorted((a, b) => Number(a.priority) - Number(b.priority))
        .map(({ form }) => form),
      others: formed.flatMap(({ priority, form }) => (priority === null ? [form] : [])),
    }
  },
  cache_share: ({ share_way: way = null, domain = null }) => ({
    way,
    domain: way === 'inner_share' ? null : domain,
  }),
  extend: ({ squid = '' }) => (squid === '' ? null : { squid }),
  cache_error_code: (value) => ({ seconds: readErrors(castAccepted(value)) }),
  error_bcache: (value) => ({ seconds: readErrors(castAccepted(value)) }),
  origin: ({ origin_mode: mode = 'default', ori_https: isHttps, port = 80, ...rest }) => ({
    ...rest,
    mode,
    ...(mode === 'custom' ? { isHttps: isHttps === 'yes', port } : {}),
  }),
  new_origin: (_, entries) =>
    entries.map(({ protocol = 'default', port, host = '', connect_time: time = 15, ...rest }) => ({
      level: 20,
      weight_level: 1,
      isp: 'default',
      ...rest,
      protocol,
      host,
      time,
      port: protocol === 'default' ? null : (port ?? (protocol === 'http' ? 80 : 443)),
    })),
  tos_origin: (_, groups) => groups.map(formGroup),
  source_url_rewrite: (_, rules) =>
    rules.map((rule) => ({ ...rule, at: buildPattern('regex', rule['origin_url'], 'R6', 'Q') })),
  vendor_origin_auth: ({ auth_url: url, match_method: method = 'default', pattern = '' }) => ({
    url: url ?? null,
    at: buildPattern(method === 'default' || pattern === '' ? 'all' : method, pattern, 'R6', 'R5'),
  }),
  forward_status: ({ codes }) => sortUnique(toList(codes)),
  timeout: ({ time }) => Number(time),
  connect_timeout: ({ origin_connect_timeout: time }) => Number(time),
  add_back_source_head: (_, entries) =>
    groupByName(
      entries.map(({ head_name: name, head_value: value, write_when_exists: write }) => ({
        name: lower(name),
        entry: { value: value ?? null, isAlways: write !== 'no' },
      })),
    ),
  add_response_head: ({ list }) =>
    groupByName(
      toList(list).flatMap((entry) =>
        isObject(entry) ? [{ name: lower(entry['name']), entry: entry['value'] ?? null }] : [],
      ),
    ),
  head_control: ({ list }) => formHeaderRules(castAccepted<JsonObject[]>(list ?? [])),
  error_page_rewrite: (_, rules) =>
    Object.fromEntries(rules.map((rule) => [String(rule['error_status_code']), rule])),
  compress_response: ({ content_type: types, ...rest }) => ({ ...rest, types: lowerTypes(types) }),
  smart_compression: ({ compression_mode: mode, ...rest }) =>
    Object.fromEntries(
      ['gzip', 'brotli']
        .filter((name) => String(mode).split('&').includes(name))
        .map((name) => [
          name,
          {
            value: rest[`${name}_compression_value`] ?? 0,
            unit: rest[`${name}_compression_unit`] ?? 'KB',
            types: lowerTypes(rest[`${name}_content_type`] ?? []),
          },
        ]),
    ),
  speed_limit: (_, rules) =>
    rules.map(({ type, pattern, speed, begin_time: begin, end_time: end }) => ({
      kiloBytes: Math.ceil(Number(speed) / 8),
      begin: begin ?? '',
      end: end ?? '',
      at: buildPattern(String(type), pattern, 'R6', 'W'),
    })),
  rate_limit: ({ max_rate_count: count, max_rate_unit: unit = 'MB', ...rest }) => {
    const { leading_flow_count: after = null, leading_flow_unit: afterUnit = 'MB' } = rest
    const first = after === null ? null : [after, afterUnit]
    return { rate: [count ?? null, unit], after: first }
  },
  video_drag: ({ url = '', mp4, flv, ...rest }: JsonObject) => {
    const videos = Object.entries({ mp4, flv }).filter(([, is]) => is === 'on')
    const names = videos.map(([name]) => name)
    return {
      ...rest,
      at: buildPattern('regex', url, 'R6', 'R5'),
      of: patterns('ext', names, false, 'W', 'R4'),
    }
  },
}

const kinds: Record<number, string | undefined> = { 1: 'ext', 2: 'dir', 3: 'route', 4: 'regex' }

function orNull(list: Json[]): Json {
  return list.length === 0 ? null : list
}

function omit(object: JsonObject, names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

function splitSorted(list: Json | undefined, by: string): Json[] {
  return sortUnique<Json>(splitText(castAccepted<Text>(list ?? ''), by))
}

/** A text in lower case; of a secret what names it. */
function lower(text: Json | undefined): string {
  return lowerAscii(typeof text === 'string' ? text : canonicalizeJson(text ?? null))
}

function lowerTypes(types: Json | undefined): Json[] {
  return sortUnique(toList(types).map((type) => lower(type).trim()))
}

/** Patterns of which any one must match; a comma list is as many of them. */
function patterns(
  kind: Json | undefined,
  texts: Json[],
  folds: boolean | string,
  sees: PatternForm['sees'],
  extent: PatternForm['extent'],
): JsonObject {
  const isList = kind === 'ext' || kind === 'dir' || kind === 'route'
  const list = (kind === 'all' ? [''] : texts).flatMap((text) =>
    isList && typeof text === 'string' ? text.split(',').map((entry) => entry.trim()) : [text],
  )
  const form = {
    kind: castAccepted<PatternForm['kind']>(kind ?? ''),
    folds: kind === 'all' ? false : folds,
    sees: kind === 'regex' ? sees : ('W' as const),
    extent,
  }
  const formed = list.map((text): PatternForm =>
    isSecret(text)
      ? { kind: 'secret', text: text.$secret, folds: false, sees: 'W', extent: 'R4' }
      : { ...form, text: String(text) },
  )
  return { [anyPattern]: sortUnique<Json>(formed.map((each) => ({ ...each }))) }
}

function buildPattern(
  kind: Json,
  text: Json | undefined,
  folds: boolean | string,
  sees: PatternForm['sees'],
): JsonObject {
  return patterns(kind, [text ?? ''], folds, sees, 'R4')
}

function formCacheRule(rule: CompiledRule): JsonObject {
  const { policy, seconds, followsOrigin, obeysNoCache, keyQuery, originQuery } = rule
  const query = (change: CompiledRule['keyQuery']): Json =>
    typeof change === 'string' ? change : { ...change, params: sortUnique(change.params) }
  if (policy === 'bypass')
    return { policy, query: rule.mayChangeIdle ? query(originQuery) : 'as-sent' }
  return {
    policy,
    seconds,
    followsOrigin,
    obeysNoCache,
    keyQuery: query(keyQuery),
    query: query(originQuery),
  }
}

function formBan(configs: Json | undefined): Json {
  const parts = Object.entries(isObject(configs) ? configs : {}).map(([name, part]) => {
    if (!isObject(part)) return [name, part ?? null] as const
    const { list, case_insensitive: folds = 'yes', is_match: isMatch = 'yes', ...rest } = part
    const entries = toList(list)
    if (name === 'method') return [name, { ...rest, isMatch }] as const
    if (name === 'url')
      return [
        name,
        { isMatch, url: patterns('regex', entries, `R24:${String(folds)}`, 'R5', 'search') },
      ] as const
    if (name === 'ip') return [name, { isMatch, list: mergeNetworks(list) }] as const
    return [
      name,
      { isMatch, list: sortUnique(entries), ...(name === 'ua' ? { folds } : {}) },
    ] as const
  })
  return Object.fromEntries(parts)
}

function formGroup(group: JsonObject): JsonObject {
  const { origin_mode: mode = 'default', host_mode: hostMode = 'default', ...rest } = group
  const { isp = null, ips = null, group_sort: rank = null, weight = null } = rest
  const { protocol = null, port = null, host = '' } = rest
  return {
    isp,
    ips,
    rank,
    weight,
    mode,
    ...(mode === 'custom' ? { protocol, port } : {}),
    host: hostMode === 'custom' ? { host } : null,
  }
}

/** Groups entries by the header they change, in their order. */
function groupByName(entries: { name: string; entry: Json }[]): JsonObject | null {
  const found = new Map<string, Json[]>()
  for (const { name, entry } of entries) found.set(name, [...(found.get(name) ?? []), entry])
  return found.size === 0 ? null : Object.fromEntries(found)
}

/** Rules of one direction and header act on each other, in their order; others do not. */
function formHeaderRules(rules: JsonObject[]): Json {
  const named = rules.map(({ regex, head_op: op, head_direction, head, value, order }) => ({
    name: `${String(head_direction)} ${lower(head)}`,
    order: Number(order),
    entry: {
      op: op ?? null,
      ...(op === 'DEL' ? {} : { value: value ?? null }),
      at: buildPattern('regex', regex, 'R6', 'R5'),
    },
  }))
  const ranks = new Map<string, number[]>()
  for (const { name, order } of named) ranks.set(name, [...(ranks.get(name) ?? []), order])
  const sorted = named.toSorted((a, b) => a.order - b.order)
  return groupByName(
    sorted.map(({ name, order, entry }) => {
      const orders = [...new Set(ranks.get(name))].toSorted((a, b) => a - b)
      return { name, entry: { ...entry, rank: orders.indexOf(order) } }
    }),
  )
}

/** The addresses of a list: ranges of IPv4 as numbers, joined, and other entries. */
function mergeNetworks(list: Json | undefined): Json[] {
  const entries = toList(list).map(lower)
  const ranges = entries.flatMap((entry) => {
    const range = readRange(entry)
    return range === null ? [] : [range]
  })
  const others = entries.filter((entry) => readRange(entry) === null)
  const merged: [number, number][] = []
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return [...merged, ...sortUnique(others.map((entry) => parseAddress(entry) ?? entry))]
}

/** Reads an address of IPv4, or a network of these, as its first and last number; else null. */
export function readRange(entry: string): [number, number] | null {
  const network = parseNetwork(entry)
  if (network !== null) return [network.base, network.base + 2 ** (32 - network.prefix) - 1]
  const address = parseAddress(entry) ?? ''
  if (!/^[\d.]+$/.test(address)) return null
  const bits = parseAddressBits(address)
  return [bits, bits]
}
