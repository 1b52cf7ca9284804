import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import type { ItemKey } from '../../src/core/model/item.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import type { Candidates } from '../../src/core/trace/candidates.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import type { Reply } from '../../src/core/trace/reply.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'
import { readConfiguration } from '../../src/operations/tracing/candidates.ts'
import { validPayloads } from '../laws/values.ts'
import { everyNth, itOften } from '../runs.ts'

const domain = 'www.example.com'
const settings = buildSettings()
const secret = { $secret: 'preview' }

const headers = { referer: 'https://a.example.com/', 'user-agent': 'curl/8', '*': null }
const origin = {
  status: 404,
  size: 1e9,
  headers: { 'content-type': 'text/html', 'cache-control': 'max-age=9', '*': null },
}
const facts = { ip: '203.0.113.9', country: 'cn', isp: 'dx', time: '20:00', at: 1_700_000_000 }
const more = { bodySize: 1e9, origin, headers: { ...headers, 'accept-encoding': 'gzip, br' } }
const requests = ['/img/a.jpg?a=1&b=2', '/video/x.mp4?start=1&end=2'].map((path, i) => ({
  url: `https://${domain}${path}`,
  method: i === 0 ? 'GET' : 'POST',
  ...more,
  ...facts,
}))

/** Reads items as files with configurations are read. */
function read(items: Record<ItemKey, Json>): Candidates {
  const lists = Object.entries(items).map(([key, value]) => [key, [value]])
  return readConfiguration({ domain, items: Object.fromEntries(lists) as JsonObject }).items
}

function replyAll(items: Record<ItemKey, Json>): Map<string, Reply>[] {
  const compiled = compile(domain, read(items), settings)
  return requests.map(
    (request) => trace(compiled, request, { visitor: 'unknown', asks: false }).replies,
  )
}

/** Copies a value with a secret in place of one text. */
function listSecretVariants(value: Json): Json[] {
  if (typeof value === 'string') return [secret]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    listSecretVariants(part).map((variant) =>
      Array.isArray(value)
        ? value.map((each, i) => (String(i) === key ? variant : each))
        : { ...value, [key]: variant },
    ),
  )
}

const others: Record<ItemKey, Json> = {
  https: { cert_id: 1 },
  origin: { default_master: '192.0.2.1' },
  origin_host: { host: 'o.example.com' },
}

const isValid = (item: ItemKey, value: Json): boolean =>
  parseItem(getItemSpec(item), value, 'manifest').value !== null

describe('what a trace knows of a value with a secret is so for each text', () => {
  for (const item of catalogue.keys())
    itOften(item, () => {
      const payloads = (validPayloads.get(item) ?? []).filter((payload) => isValid(item, payload))
      for (const payload of everyNth(payloads, 20)) {
        const plain = replyAll({ ...others, [item]: payload })
        for (const value of listSecretVariants(payload))
          if (isValid(item, value) && !isReordered(item, value))
            for (const [i, replies] of replyAll({ ...others, [item]: value }).entries())
              expectSame(JSON.stringify(value), replies, plain[i] ?? new Map())
      }
    })
})

/** Tests whether a value has its entries in another order with a secret. */
function isReordered(item: ItemKey, value: Json): boolean {
  return item === 'add_back_source_head' && JSON.stringify(value).includes('"head_name":{')
}

function expectSame(at: string, replies: Map<string, Reply>, plain: Map<string, Reply>): void {
  // Of a rule with a secret only the place is the same, not the text.
  const show = (value: Json) => JSON.stringify(value).replace(/"pattern":"[^"]*"/, '"pattern":null')
  for (const [name, reply] of replies) {
    const is = plain.get(name)
    if ('value' in reply && is !== undefined && 'value' in is)
      expect([at, name, show(reply.value)]).toEqual([at, name, show(is.value)])
  }
}

describe('only what depends on the secret is unknown', () => {
  const rule = (pattern: Json, expire = 60) => ({ match_method: 'ext', pattern, expire })
  const list = (...entries: Json[]) => ({ list: entries })
  const reasons = ['not-given secret:preview']
  it.each<[Record<ItemKey, Json>, string, Json]>([
    [{ cache_rule_list: [rule('jpg'), rule(secret)] }, 'cache.seconds', 60],
    [{ cache_rule_list: [rule(secret), rule('jpg')] }, 'cache.seconds', 60],
    [{ cache_rule_list: [rule(secret, 5), rule('jpg')] }, 'cache.seconds', 'unknown'],
    [{ cache_rule: [{ type: 4, pattern: secret, time: 5 }] }, 'cache.policy', 'unknown'],
    [{ cache_rule: [{ type: 4, pattern: secret, time: 5 }] }, 'outcome', 'served'],
    [{ ip_black_list: list(secret, '203.0.113.9') }, 'checks.ip_black_list', 'deny'],
    [{ ip_black_list: list(secret) }, 'checks.ip_black_list', 'unknown'],
    [{ ip_white_list: list(secret, '203.0.113.9') }, 'checks.ip_white_list', 'pass'],
    [{ deny_url: { urls: [secret, '.*'] } }, 'checks.deny_url', 'deny'],
    [{ deny_url: { urls: [secret] } }, 'checks.deny_url', 'unknown'],
    [{ referer: { type: 1, list: [secret] } }, 'checks.referer', 'unknown'],
    [{ visit_areas_limit: { limit_type: 'black', country_list: secret } }, 'outcome', 'unknown'],
    [{ origin: { default_master: secret } }, 'origin.main', 'unknown'],
    [{ origin: { default_master: secret } }, 'origin.protocol', 'https'],
    [{ origin_host: { host: secret } }, 'origin.host', 'unknown'],
    [{ client_real_ip: { head: secret } }, 'origin.otherHeaders', 'unknown'],
    [
      { add_back_source_head: [{ head_name: secret, head_value: 'x' }] },
      'origin.otherHeaders',
      'unknown',
    ],
    [
      { add_back_source_head: [{ head_name: 'x-a', head_value: secret }] },
      'origin.otherHeaders',
      'untouched',
    ],
    [
      { video_drag: { mp4: 'on', flv: 'on', url: secret, start: 'a', end: 'b' } },
      'response.drag',
      false,
    ],
    [{ source_url_rewrite: [{ origin_url: secret, target_url: '/x' }] }, 'origin.url', 'unknown'],
  ])('%j: %s is %j', (items, name, value) => {
    const found = replyAll({ ...others, ...items })[0]?.get(name)
    expect(found).toEqual(value === 'unknown' ? { unknown: reasons } : { value })
  })
})
