// @module-tag often
// @module-tag nightly
import { expect } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { findWitness } from '../../src/core/effects/witness/find-witness.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import { readDesired } from '../../src/operations/tracing/candidates.ts'
import { plainKeeper } from '../manifest/test-workspace.ts'
import { itOften, runs } from '../runs.ts'
import { Chance } from '../simulation/chance.ts'
import { buildPair, type Pair } from '../trace/pairs/pair.ts'
import { changeCandidates, settle } from './build.ts'
import { confirm } from './confirm.ts'
import { change, drawOther } from './mutate.ts'

const { desired } = loadWorkspace('examples/storefront', {}, () => plainKeeper)
const fleet = [...desired].map(([domain, items]) => ({
  domain,
  items: Object.fromEntries(readDesired(items)) as Record<string, Json[]>,
}))

/** Reasons that the semantics name: what is not decidable, a secret. */
const named = /^(?:undecidable|not-given) /

/** The canonical value of an item; null if the service refuses it. */
function parse(item: string, raw: Json): Json {
  const { value, problems } = parseItem(getItemSpec(item), raw, 'manifest')
  return problems.some(({ severity }) => severity === 'error') ? null : value
}

function find(seed: number, domain: string, items: Pair['items'], after: Pair['items']) {
  const witness = findWitness(changeCandidates(items, after, settle(), domain))
  const assume = { unmanaged: 'absent' }
  const pair = { ...buildPair(seed, 'managed'), domain, items, assume, timezone: 'UTC' }
  if (witness.kind === 'request') confirm(pair, after, witness)
  return witness
}

itOften('random changes of the example have a witness, or a proof', () => {
  const counts = { total: 0, open: 0, missing: 0 }
  for (let seed = 0; seed < runs(6, 250); seed++) {
    const chance = new Chance(`storefront ${seed}`)
    const { domain, items } = chance.pick(fleet)
    const set = Object.keys(items).filter((key) => (items[key]?.[0] ?? null) !== null)
    const item = chance.pick(set)
    const before = items[item]?.[0] ?? null
    const raw = chance.happens(0.06) ? null : change(chance, before, drawOther(item, seed))
    const value = raw === null ? null : parse(item, raw)
    if ((raw !== null && value === null) || isSameJson(value, before)) continue
    const witness = find(seed, domain, items, { ...items, [item]: [value] })
    counts.total++
    if (witness.kind === 'not-found')
      counts[witness.reasons.some((each) => named.test(each)) ? 'open' : 'missing']++
  }
  expect(counts.total).toBeGreaterThan(3)
  expect(counts.missing / counts.total).toBeLessThanOrEqual(0.01)
  expect((counts.open + counts.missing) / counts.total).toBeLessThanOrEqual(0.03)
})

/** Adds to an item what has no effect: what another entry covers, or what is not read. */
const additions: Record<string, (value: Json, chance: Chance) => Json> = {
  ip_black_list: (value) => addTo(value, 'list', (list) => listAddresses(list)[0] ?? 'none'),
  referer: (value) => addTo(value, 'list', (list) => `a.${String(list[0]).replace(/^\*\./, '')}`),
  deny_url: (value) => addTo(value, 'urls', (list) => `(?:${String(list[0])})`),
  cache_rule_list: (value, chance) => {
    const rules = Array.isArray(value) ? value : []
    const rule = chance.pick(rules)
    const isRanked = isObject(rule) && rule['priority'] !== undefined
    return isRanked ? [...rules, { ...rule, priority: 1_000, expire: 77 }] : null
  },
  speed_limit: (value) => {
    const [first = null] = Array.isArray(value) ? value : []
    return isObject(first) ? [first, { ...first, speed: '16' }] : null
  },
  smart_compression: (value) =>
    isObject(value) ? { ...value, gzip_compression_rate: chooseOther(value) } : null,
}

function addTo(value: Json, name: string, make: (list: Json[]) => string): Json {
  const list = isObject(value) ? value[name] : undefined
  if (!isObject(value) || !Array.isArray(list) || list.length === 0) return null
  return { ...value, [name]: [...list, make(list)] }
}

/** An address of each network of 256. */
const listAddresses = (list: Json[]) =>
  list.flatMap(
    (each) =>
      /^(.*)\.0\/24$/
        .exec(String(each))
        ?.slice(1)
        .map((net) => `${net}.9`) ?? [],
  )
const chooseOther = (value: JsonObject) => (value['gzip_compression_rate'] === 1 ? 2 : 1)

itOften('changes without an effect get no witness', () => {
  const counts: Record<string, number> = {}
  for (let seed = 0; seed < runs(6, 500); seed++) {
    const chance = new Chance(`without effect ${seed}`)
    const { domain, items } = chance.pick(fleet)
    const able = Object.keys(additions).filter((key) => (items[key]?.[0] ?? null) !== null)
    if (able.length === 0) continue
    const item = chance.pick(able)
    const raw = additions[item]?.(items[item]?.[0] ?? null, chance) ?? null
    const value = raw === null ? null : parse(item, raw)
    if (value === null) continue
    const witness = find(seed, domain, items, { ...items, [item]: [value] })
    expect(witness, `${seed} ${domain} ${item}`).not.toMatchObject({ kind: 'request' })
    counts[`${item} ${witness.kind}`] = (counts[`${item} ${witness.kind}`] ?? 0) + 1
  }
  expect(Object.keys(counts).length, JSON.stringify(counts)).toBeGreaterThan(1)
})
