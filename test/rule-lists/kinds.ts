import type { JsonObject, Json } from '../../src/core/model/json.ts'

type Build = (length: number) => JsonObject

const list = (length: number, build: (i: number) => Json): Json[] =>
  Array.from({ length }, (_, i) => build(i))
const address = (i: number) => `10.${i % 7}.${i % 251}.${i % 239}`
const network = (i: number) => (i % 3 === 0 ? `10.${i % 256}.${(i >> 8) % 256}.0/24` : address(i))
const agent = (i: number) => (i % 3 === 0 ? `Crawler ${i} *` : `bot-${i}/1`)
const place = (i: number) => `/shop/${i % 17}/part${i}/`
const regex = (i: number) => `^https?://[^/]*/shop/part${i}/.*\\.(?:jpg|png)$`
const loose = (i: number) => `[a-f]+${(i % 10) + 1}?(?:x{${(i % 40) + 1}}|[0-9]{${(i % 9) + 1}})`

/** One long list of each kind that the findings about rule lists compare. */
export const listKinds: Record<string, Build> = {
  ip_black_list: (n) => ({ ip_black_list: { list: list(n, network) } }),
  ip_white_list: (n) => ({ ip_white_list: { list: list(n, address) } }),
  referer: (n) => ({
    referer: { list: list(n, (i) => `${i % 2 ? '*.' : ''}a${i}.b${i % 9}.example`) },
  }),
  user_agent: (n) => ({
    user_agent: {
      ua_list: list(n, agent).join('\n'),
      ua_match_type: 'regex',
      ua_case_insensitive: 'yes',
    },
  }),
  visit_deny_whitelist: (n) => ({
    visit_deny_whitelist: list(n, (i) => ({ url: `http://a.example${place(i)}x?q=${i}` })),
  }),
  'deny_url of texts': (n) => ({
    deny_url: { urls: list(n, (i) => `http://a.example${place(i)}x.html`) },
  }),
  'deny_url of expressions': (n) => ({ deny_url: { urls: list(n, regex) } }),
  'deny_url without texts': (n) => ({ deny_url: { urls: list(n, loose) } }),
  'combined_ban of addresses': (n) => buildBan('ip', list(n, network)),
  'combined_ban of referers': (n) =>
    buildBan(
      'referer',
      list(n, (i) => `^http://a${i}.example`),
    ),
  'combined_ban of agents': (n) => buildBan('ua', list(n, agent)),
  'combined_ban of URLs': (n) => buildBan('url', list(n, regex)),
  'bans of addresses': (n) => ({
    combined_ban: list(n, (i) => ({ configs: { ip: { list: [network(i), network(i + 1)] } } })),
  }),
  'bans of URLs': (n) => ({
    combined_ban: list(n, (i) => ({
      configs: { url: { list: [regex(i)] }, referer: { list: [`a${i % 50}.example`] } },
    })),
  }),
  'suffixes of a rule': (n) => ({
    cache_rule: [{ type: 1, pattern: list(n, (i) => `e${i}x`).join(), time: 1 }],
  }),
  'directories of a rule': (n) => ({
    cache_rule: [{ type: 2, pattern: list(n, place).join(), time: 1 }],
  }),
  cache_rule: (n) => ({ cache_rule: list(n, buildRule) }),
  'cache_rule of expressions': (n) => ({
    cache_rule: list(n, (i) => ({ type: 4, pattern: regex(i), time: i + 1 })),
  }),
  cache_rule_list: (n) => ({ cache_rule_list: list(n, buildRanked) }),
  'cache_rule_list without priorities': (n) => ({
    cache_rule_list: list(n, (i) => ({ match_method: 'dir', pattern: place(i), expire: i + 1 })),
  }),
  'both lists': (n) => ({
    cache_rule: list(n / 2, buildRule),
    cache_rule_list: list(n / 2, buildRanked),
  }),
  speed_limit: (n) => ({
    speed_limit: list(n, (i) => ({
      type: 'dir',
      pattern: place(i),
      speed: 8 * (i + 1),
      begin_time: '01:00',
      end_time: '02:00',
    })),
  }),
  source_url_rewrite: (n) => ({
    source_url_rewrite: list(n, (i) => ({ origin_url: regex(i), rewrite_url: `/${i}` })),
  }),
  head_control: (n) => ({
    head_control: {
      list: list(n, (i) => ({ regex: regex(i), head_op: 'ADD', head: `X${i}`, value: 'a' })),
    },
  }),
}

function buildBan(name: string, entries: Json[]): JsonObject {
  return { combined_ban: [{ configs: { [name]: { list: entries } } }] }
}

function buildRule(i: number): JsonObject {
  const [type, pattern] = [
    [1, `e${i}x,f${i}x`],
    [2, place(i)],
    [3, `${place(i)}x`],
    [4, regex(i)],
  ][i % 4] as [number, string]
  return { type, pattern, time: i + 1 }
}

function buildRanked(i: number): JsonObject {
  const [match_method, pattern] = [
    ['ext', `e${i}x,f${i}x`],
    ['dir', place(i)],
    ['route', `${place(i)}x`],
    ['regex', regex(i)],
  ][i % 4] as [string, string]
  return { match_method, pattern, expire: i + 1, expire_unit: 'S', priority: i + 1 }
}
