import { groupEffects } from '../../src/core/effects/group.ts'
import { compileSides } from '../../src/core/effects/sides.ts'
import { findWitness } from '../../src/core/effects/witness/find-witness.ts'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemKey } from '../../src/core/model/item.ts'
import { isObject, type JsonObject } from '../../src/core/model/json.ts'
import type { Candidate } from '../../src/core/trace/candidates.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'
import { createRow, type Row } from './row.ts'

/** Traces of one measurement. */
const count = 20_000

/** Measures traces through a domain with 20 cache rules, in CPU seconds. */
export function measureTrace(rounds: number): Row[] {
  const what = `${count} traces through 20 cache rules`
  return [
    createRow('trace-managed', `${what}, all items in manifests`, 's', time(true, rounds), 1),
    createRow('trace', `${what}, 7 items in manifests`, 's', time(false, rounds), 1),
  ]
}

/** Measures what plans with effects cost beside the plan, in CPU seconds. */
export function measureEffects(): Row[] {
  const settings = buildSettings()
  const names = Array.from({ length: 1000 }, (_, i) => `www${i}.example.com`)
  const all = new Map(
    names.map((domain, i) => {
      const before = createItems(true)
      const [rules] = before.get('cache_rule_list') ?? []
      const after = new Map(before)
      after.set('cache_rule_list', [lengthen(rules ?? [], i)])
      return [domain, compileSides(domain, before, after, settings)]
    }),
  )
  const requests = createRequests(100).flatMap((request) =>
    names.map((domain) => ({
      request: { ...request, url: String(request['url']).replace('www.example.com', domain) },
      count: 1,
    })),
  )
  const grouped = measureCpu(() => groupEffects(requests, (host) => all.get(host) ?? null))
  const found = measureCpu(() => {
    for (const sides of all.values()) findWitness(sides)
  })
  return [
    createRow('effects', '100,000 requests of 1000 domains before and after', 's', grouped, 15),
    createRow('witnesses', 'witnesses of 1000 changed domains', 's', found, 5),
  ]
}

/** Changes the time of one of the rules. */
function lengthen(rules: Candidate, i: number): Candidate {
  if (!Array.isArray(rules)) return rules
  return rules.map((rule, n) =>
    isObject(rule) && n === i % 20 ? { ...rule, expire: 100 + i } : rule,
  )
}

function measureCpu(run: () => void): number {
  const start = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

function time(isManaged: boolean, rounds: number): number {
  const settings = buildSettings()
  const items = createItems(isManaged)
  const compiled = compile('www.example.com', items, settings)
  const requests = createRequests(1000)
  const spans = Array.from({ length: rounds + 1 }, () =>
    measureCpu(() => {
      for (let i = 0; i < count; i++)
        trace(compiled, requests[i % requests.length] ?? {}, { visitor: 'usual', asks: false })
    }),
  )
  return Math.min(...spans)
}

function createItems(isManaged: boolean): Map<ItemKey, Candidate[]> {
  const rules = Array.from({ length: 20 }, (_, i) => ({
    ...createPattern(i),
    expire: 60 + i,
    expire_unit: 's',
    priority: i + 1,
  }))
  const items = new Map<ItemKey, Candidate[]>(
    Object.entries({
      origin: [{ default_master: '192.0.2.10', origin_mode: 'default' }],
      https: [{ cert_id: 1001, force_https: 301, http2: 'on' }],
      cache_rule_list: [rules],
      referer: [{ type: 2, list: ['*.example.com', 'example.net'], allow_empty: true }],
      ip_black_list: [{ list: ['10.0.0.0/8', '203.0.113.7'] }],
      ip_white_list: [null],
      add_response_head: [{ list: [{ name: 'X-T', value: 'a' }] }],
    }),
  )
  if (isManaged) for (const key of catalogue.keys()) if (!items.has(key)) items.set(key, [null])
  return items
}

function createPattern(i: number): JsonObject {
  return (
    [
      { match_method: 'ext', pattern: `jp${i},png${i},gif`, case_ignore: 'yes' },
      { match_method: 'dir', pattern: `/static${i}/,/img${i}/`, case_ignore: 'no' },
      { match_method: 'route', pattern: `/a${i}/*`, case_ignore: 'no' },
      { match_method: 'regex', pattern: `/v${i}/.*\\.php$`, case_ignore: 'no' },
    ][i % 4] ?? {}
  )
}

/** Requests that meet rules of all kinds, or none. */
function createRequests(length: number): JsonObject[] {
  const folders = ['img5/x', 'static1/y', 'a/b', 'a2/b', 'v3/q.php', 'v/c']
  const endings = ['.gif', '.png4', '', '.css']
  return Array.from({ length }, (_, i) => ({
    url: `https://www.example.com/${folders[i % 6]}${i}${endings[i % 4]}?v=${i}`,
    method: 'GET',
    ip: `192.0.2.${i % 250}`,
    headers: { referer: 'https://www.example.com/', '*': null },
    origin: { status: 200 },
  }))
}
