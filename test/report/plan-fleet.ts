import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import type { Change, Write } from '../../src/core/model/change.ts'
import { groupBy } from '../../src/core/model/lists.ts'
import type { Domain, ItemKey } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { computeTimes } from '../../src/core/plan/plan-times.ts'
import { buildChange, buildPlan, buildWrite, replaceWith } from '../plans.ts'

const zones = ['shop.example.com', 'img.example.net', 'video.example.org']
const rollout = { pause: 1200, health: null }

/**
 * Builds the plan of a fleet in which most domains get another certificate, and some a change of
 * their origin, a cache rule, a new item, a secret, a release or an in-doubt item.
 */
export function buildFleetPlan(count: number): Plan {
  const names = Array.from({ length: count }, (_, i) => nameDomain(i))
  const changes = names.flatMap((name, i) => buildChanges(name, i, count))
  const waves = count < 500 ? [1] : [0.01, 0.1, 0.5, 1]
  const waveByDomain = new Map(
    names.map((name, i) => [name, waves.findIndex((share) => i < share * count) + 1]),
  )
  const writes = buildWrites(changes, waveByDomain)
  const totalSeconds = computeTimes(writes, { callsPerMinute: 30, rollout }).total
  return buildPlan(changes, {
    writes,
    summary: { lowerBound: Math.ceil(writes.length * 0.96), totalSeconds },
    ...(waves.length > 1 ? { approvals: [3] } : {}),
  })
}

function nameDomain(i: number): Domain {
  return `${String.fromCharCode(97 + (i % 26))}${i}.${zones[i % zones.length]}`
}

/** Builds the changes of a domain; a fleet of one domain has all of them. */
function buildChanges(domain: Domain, i: number, count: number): Change[] {
  const has = (every: number, rest: number) => count === 1 || i % every === rest
  const change = (item: ItemKey, before: Json, after: Json, given: Partial<Change> = {}) =>
    buildChange({
      domain,
      item,
      action: before === null ? 'set' : after === null ? 'release' : 'change',
      before: before === null ? null : canonicalize(item, before),
      after: after === null ? null : canonicalize(item, after),
      ...given,
    })
  const rules = (expire: number): Json => [
    { match_method: 'dir', pattern: '/account/', expire: 0 },
    { match_method: 'ext', pattern: 'css,js', expire: 30, expire_unit: 'D' },
    { match_method: 'dir', pattern: '/products/', expire, expire_unit: 'i' },
  ]
  const [here, mode] = [`198.51.100.${i % 250}`, has(4, 1) ? 'https' : 'http']
  const moved = `${here},203.0.113.${has(7, 3) ? 251 : i % 250}`
  const referer: Json = { type: 1, list: ['a.example'], allow_empty: true }
  return [
    ...(has(3, 0) ? [change('cache_rule_list', rules(5), rules(30))] : []),
    ...(has(10, 9)
      ? []
      : [
          change(
            'https',
            { cert_id: 1001, http2: 'on', force_https: 301 },
            { cert_id: 1002, http2: 'on', force_https: 301 },
          ),
        ]),
    ...(has(7, 3) || has(4, 1)
      ? [
          change(
            'origin',
            { default_master: `${here},203.0.113.${i % 250}`, origin_mode: 'http' },
            { default_master: moved, origin_mode: mode },
          ),
        ]
      : []),
    ...(has(12, 5) ? [change('origin_host', { host: 'o.example' }, null)] : []),
    ...(has(20, 7) ? [change('referer', referer, referer, { reason: 'in-doubt' })] : []),
    ...(has(5, 0) ? [change('timeout', null, { time: '60' })] : []),
    ...(has(15, 2)
      ? [
          change(
            'visit_timestamp',
            { pattern: '.*', key: { $secret: 'scrypt:86a50f41' }, deadtime: 1800 },
            { pattern: '.*', key: { $secret: 'new:signing' }, deadtime: 1800 },
          ),
        ]
      : []),
  ]
}

const canonical = new Map<string, Json>()

function canonicalize(item: ItemKey, value: Json): Json {
  const key = `${item} ${JSON.stringify(value)}`
  const known = canonical.get(key) ?? getItemSpec(item).canonicalize(value)
  canonical.set(key, known)
  return known
}

/** Builds writes of up to ten domains that set an item to the same value, wave by wave. */
function buildWrites(changes: Change[], waveByDomain: Map<Domain, number>): Write[] {
  const written = changes.filter(({ action }) => action !== 'release')
  const groups = groupBy(written, ({ domain, item, after }) =>
    JSON.stringify([waveByDomain.get(domain) ?? 1, item, after]),
  )
  return [...groups.values()]
    .flatMap((same) =>
      Array.from({ length: Math.ceil(same.length / 10) }, (_, n) =>
        same.slice(n * 10, n * 10 + 10),
      ),
    )
    .flatMap((same) =>
      same.slice(0, 1).map(({ domain, item, after }) =>
        buildWrite({
          wave: waveByDomain.get(domain) ?? 1,
          domains: same.map((each) => each.domain),
          items: { [item]: replaceWith(after) },
        }),
      ),
    )
    .toSorted((a, b) => a.wave - b.wave)
    .map((write, i) => ({ ...write, id: i + 1 }))
}
