import { groupEffects } from '../../src/core/effects/group.ts'
import { compileSides } from '../../src/core/effects/sides.ts'
import { findWitness } from '../../src/core/effects/witness/find-witness.ts'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemKey } from '../../src/core/model/item.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import type { Candidate } from '../../src/core/trace/candidates.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile, openRuns, trace } from '../../src/core/trace/trace.ts'
import { listRules } from '../../src/core/trace/stages/cache.ts'
import { matchUrl } from '../../src/core/trace/match/url.ts'
import { parseRequest } from '../../src/core/trace/request.ts'
import { compareFigures, createRow, measureCpu, type Row } from './row.ts'

/** Measures traces through a domain with 20 cache rules, in CPU seconds. */
export function measureTrace(): Row[] {
  const compiled = compile('www.example.com', createItems(), buildSettings())
  const requests = createRequests(20_000)
  const facts = requests.map((each) => parseRequest(each, compiled.domain))
  const traceAll = (some: JsonObject[], asks: boolean) =>
    measureLeast(() => {
      for (const each of some) trace(compiled, each, { visitor: 'usual', asks })
    })
  const { first: run } = openRuns(compiled, parseRequest(requests[0] ?? {}, compiled.domain))
  const rules = listRules(run)
  const looped = measureLeast(() => {
    for (const each of facts)
      rules.filter((rule) => matchUrl(run, rule.pattern, each, rule.caseRule, rule.sees))
  })
  const traced = traceAll(requests, false)
  const what = '20,000 traces, beside a loop over their 20 cache rules'
  return [
    createRow('trace', '20,000 traces through 20 cache rules', 's', traced, 1),
    compareFigures('trace-loop', what, traced, looped, 12, 's'),
    createRow(
      'assumed',
      '900 of them with assumed',
      's',
      traceAll(requests.slice(0, 900), true),
      1,
    ),
  ]
}

function measureLeast(run: () => void): number {
  return Math.min(measureCpu(run), measureCpu(run), measureCpu(run))
}

/** Measures what plans with effects cost beside the plan, in CPU seconds. */
export function measureEffects(): Row[] {
  const settings = buildSettings()
  const names = Array.from({ length: 1000 }, (_, i) => `www${i}.example.com`)
  const all = new Map(
    names.map((domain, i) => [
      domain,
      compileSides(domain, createItems(), createItems(i), settings),
    ]),
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
    createRow('effects', '100,000 requests of 1000 domains before and after', 's', grouped, 8),
    createRow('witnesses', 'witnesses of 1000 changed domains', 's', found, 5),
  ]
}

/** @param changed number of which a rule has another time */
function createItems(changed = -1): Map<ItemKey, Candidate[]> {
  const rules = Array.from({ length: 20 }, (_, i) => ({
    ...createPattern(i),
    expire: changed % 20 === i ? 100 + changed : 60 + i,
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
      add_response_head: [{ list: [{ name: 'X-T', value: 'a' }] }],
    }),
  )
  for (const key of catalogue.keys()) if (!items.has(key)) items.set(key, [null])
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
