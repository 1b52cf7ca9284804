import { omitFields } from '../../core/catalog/observation.ts'
import type { ItemKey, Value } from '../../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'

/**
 * Builds the form in which the configuration query returns a value; undefined if the item does not
 * appear in it.
 */
type ReadForm = (value: Json) => Json | undefined

/** Items that come back otherwise than written; all others come back as they are stored. */
const forms: ReadonlyMap<ItemKey, ReadForm> = new Map([
  ['origin', onFields(readOrigin)],
  ['https', onFields(readHttps)],
  ['visit_timestamp', onFields((signed) => ({ error_page: '', ...signed, request_style: '' }))],
  ['cache_rule_list', onEntries((rule) => omitFields(rule, ['case_ignore', 'cache_or_not']))],
  ['speed_limit', onEntries(readSpeedRule)],
  ['rate_limit', onFields((limit) => lower(limit, ['max_rate_unit', 'leading_flow_unit']))],
  ['compress_response', onFields((rule) => lower(rule, ['min_size_unit']))],
  ['add_response_head', onFields((heads) => omitFields(onList(heads, readResponseHead), ['type']))],
  ['head_control', onFields((heads) => onList(heads, readHeadRule))],
  ['ip_black_list', onFields((list) => omitFields(list, ['mode']))],
  ['ip_white_list', onFields((list) => omitFields(list, ['mode']))],
  ['cache_share', onFields(readCacheShare)],
  ['timeout', onFields((timeout) => asText(timeout, ['time']))],
  ['connect_timeout', onFields((timeout) => asText(timeout, ['origin_connect_timeout']))],
  ['range_back_source', (value) => (value === 'off' ? value : undefined)],
])

/**
 * Builds the form in which the configuration query returns the canonical value of an item;
 * undefined if the item does not appear there although it is set.
 */
export function buildReadForm(item: ItemKey, value: Value): Json | undefined {
  const form = forms.get(item)
  return form === undefined ? value : form(value)
}

/** Builds the form in which the query of a domain has a value: rules of the cache have another. */
export function buildRecordForm(item: ItemKey, value: Value): Json | undefined {
  return item === 'cache_rule' ? onEntries(readCacheRule)(value) : buildReadForm(item, value)
}

/** Port and protocol have placeholders unless the mode is `custom`. */
function readOrigin(origin: JsonObject): JsonObject {
  const { port, ori_https, origin_mode } = origin
  if (origin_mode !== 'custom') return { ...origin, ori_https: 'no', port: '' }
  return {
    ...origin,
    ori_https: ori_https ?? 'no',
    port: port === undefined ? '' : String(port),
  }
}

function readHttps(https: JsonObject): JsonObject {
  const { http2, force_https, ...rest } = omitFields(https, ['ocsp', 'ssl_protocol'])
  return { ...rest, http2: http2 === 'on' ? 'on' : '', force_https: String(force_https ?? 0) }
}

function readCacheRule(rule: JsonObject): JsonObject {
  const switches = ['ignore_no_cache', 'ignore_expired', 'ignore_query'].filter((name) =>
    Object.hasOwn(rule, name),
  )
  const read = Object.fromEntries(switches.map((name) => [name, rule[name] === 'on']))
  return { ...asText(rule, ['time']), ...read }
}

/** The speed is whole bytes of 8 Kbps each, at least one; rules are numbered. */
function readSpeedRule(rule: JsonObject, i: number): JsonObject {
  const speed = Math.max(1, Math.ceil(Number(rule['speed']) / 8)) * 8
  return { ...rule, speed, priority: i + 1 }
}

function readResponseHead(head: JsonObject): JsonObject {
  return { ...head, cover: 'yes', only_hit: 'no' }
}

function readHeadRule({ head, ...rule }: JsonObject): JsonObject {
  return { ...omitFields(rule, ['order']), key: head ?? '', fun_name: '' }
}

function readCacheShare(share: JsonObject): JsonObject {
  return share['share_way'] === 'inner_share' ? omitFields(share, ['domain']) : share
}

function onFields(form: (value: JsonObject) => JsonObject): ReadForm {
  return (value) => (isObject(value) ? form(value) : value)
}

function onEntries(form: (entry: JsonObject, i: number) => JsonObject): ReadForm {
  return (value) =>
    Array.isArray(value)
      ? value.map((entry, i) => (isObject(entry) ? form(entry, i) : entry))
      : value
}

function onList(value: JsonObject, form: (entry: JsonObject) => JsonObject): JsonObject {
  return { ...value, list: onEntries(form)(value['list'] ?? []) ?? [] }
}

function lower(value: JsonObject, names: string[]): JsonObject {
  return mapTexts(value, names, (text) => text.toLowerCase())
}

function asText(value: JsonObject, names: string[]): JsonObject {
  return mapTexts(value, names, (text) => text)
}

/** Replaces fields that are present by a text made of their own. */
function mapTexts(value: JsonObject, names: string[], map: (text: string) => string): JsonObject {
  const read = names.flatMap((name) => {
    const field = value[name]
    return typeof field === 'string' || typeof field === 'number'
      ? [[name, map(String(field))]]
      : []
  })
  return { ...value, ...Object.fromEntries(read) }
}
