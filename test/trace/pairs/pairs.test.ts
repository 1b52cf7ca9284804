// @module-tag often
import { expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../../src/core/catalog/parse-item.ts'
import { isObject, isSameJson, type Json } from '../../../src/core/model/json.ts'
import { readingNames } from '../second/readings.ts'
import { buildPair, type Pair } from './pair.ts'
import { shrinkPair } from './shrink-pair.ts'

const seeds = Array.from({ length: 300 }, (_, seed) => seed)
const managed = seeds.map((seed) => buildPair(seed, 'managed'))
const mixed = seeds.map((seed) => buildPair(seed, 'mixed'))
const itemNames = [...catalogue.keys()]
const isUnknown = (candidate: Json) => isSameJson(candidate, { $unknown: true })

it('all values are valid and canonical', () => {
  for (const pair of [...managed, ...mixed]) {
    for (const [name, candidates] of Object.entries(pair.items)) {
      const values = candidates.filter((each) => each !== null && !isUnknown(each))
      for (const value of values) {
        const parsed = parseItem(getItemSpec(name), value, 'manifest')
        expect([
          parsed.value,
          parsed.problems.filter(({ severity }) => severity === 'error'),
        ]).toEqual([value, []])
      }
    }
  }
})

it('equal seeds give equal pairs, different ones different pairs', () => {
  expect(seeds.slice(0, 20).map((seed) => buildPair(seed, 'managed'))).toEqual(managed.slice(0, 20))
  expect(seeds.slice(0, 20).map((seed) => buildPair(seed, 'mixed'))).toEqual(mixed.slice(0, 20))
  const texts = [...managed, ...mixed].map((pair) => JSON.stringify(pair))
  expect(new Set(texts).size).toBe(texts.length)
})

it('managed pairs have one candidate for every item, and no settings', () => {
  for (const { items, assume, visitor } of managed) {
    expect(Object.keys(items)).toEqual(itemNames)
    expect(Object.values(items).every((candidates) => candidates.length === 1)).toBe(true)
    expect(Object.values(items).flat().some(isUnknown)).toBe(false)
    expect([assume, visitor]).toEqual([{}, 'unknown'])
  }
})

it.each([
  ['managed', managed],
  ['mixed', mixed],
] as const)('every item and every fact occurs in %s pairs, and is missing', (_kind, pairs) => {
  const known = (pair: Pair) =>
    Object.keys(pair.items).filter((name) => pair.items[name]?.some(isObjectOrList))
  expect(new Set(pairs.flatMap(known))).toEqual(new Set(itemNames))
  const unset = pairs.flatMap(({ items }) =>
    itemNames.filter((name) => !items[name]?.some(Boolean)),
  )
  expect(new Set(unset)).toEqual(new Set(itemNames))

  const facts = 'url method headers ip country isp at time bodySize signature secrets origin'
  const given = pairs.flatMap(({ request }) => Object.keys(request))
  expect(new Set(given)).toEqual(new Set(facts.split(' ')))
  const parts = pairs.flatMap(({ request: { origin } }) =>
    isObject(origin ?? null) ? Object.keys(origin ?? {}) : [],
  )
  expect(new Set(parts)).toEqual(new Set(['status', 'headers', 'size']))
})

function isObjectOrList(candidate: Json): boolean {
  return candidate !== null && !isUnknown(candidate)
}

it('mixed pairs have every kind of candidate and every setting', () => {
  const items = mixed.map((pair) => pair.items)
  const lists = items.flatMap((each) => Object.values(each))
  const inDoubt = lists.filter((candidates) => candidates.length > 1)
  expect(inDoubt.some((candidates) => candidates.includes(null))).toBe(true)
  expect(inDoubt.some((candidates) => candidates.some(isUnknown))).toBe(true)
  expect(inDoubt.some((candidates) => candidates.length > 2)).toBe(true)
  expect(items.some((each) => Object.keys(each).length < 20)).toBe(true)

  const settings = mixed.flatMap(({ assume }) => Object.keys(assume))
  expect(new Set(settings)).toEqual(new Set([...readingNames, 'unmanaged']))
  expect(readingNames).toHaveLength(79)
  expect(new Set(mixed.map(({ visitor }) => visitor))).toEqual(new Set(['usual', 'unknown']))
})

it('requests have every form', () => {
  const urls = [...managed, ...mixed].map(({ request }) => String(request['url']))
  for (const form of [
    /^HTTPS:/,
    /^http:/,
    /\.:8080/,
    /:80(?:\/|\?|$)/,
    /:443/,
    /#/,
    /\?$/,
    /\/\.\.?\//,
    /%[0-9A-F]{2}/,
    /%2d|%2f|%6[a-f]/,
    /%(?![0-9a-f]{2})/i,
    /[^\0-\x7f]/,
    /\/[0-9a-f]{32}\/\d+\//,
    /\/\d+\/[0-9a-f]{32}\//,
    /[?&]key=[0-9a-f]{32}&(?:.*&)?time=/,
    /[?&]time=\d+&(?:.*&)?key=[0-9a-f]{32}/,
    /^https:\/\/a\.b\.example\.com/,
  ])
    expect(urls.filter((url) => form.test(url)).length, String(form)).toBeGreaterThan(0)
})

it('the reducer leaves what the predicate needs', () => {
  const pair = mixed.find(({ items }) => Array.isArray(items['cache_rule_list']?.[0]))
  const needs = ({ items, request }: Pair) => {
    const [rules] = items['cache_rule_list'] ?? []
    return Array.isArray(rules) && rules.length > 0 && String(request['url']).includes('//')
  }
  const small = shrinkPair(pair ?? buildPair(0, 'mixed'), needs)
  expect(needs(small)).toBe(true)
  expect(Object.keys(small.items)).toEqual(['cache_rule_list'])
  expect(small.items['cache_rule_list']?.[0]).toHaveLength(1)
  expect(small.assume).toEqual({})
  expect(Object.keys(small.request)).toEqual(['url'])
  expect(small.timezone).toBeUndefined()
})

it('the reducer keeps candidates that the predicate needs', () => {
  const inDoubt = ({ items }: Pair) => Object.values(items).some(({ length }) => length > 1)
  const pair = mixed.find(inDoubt)
  const small = shrinkPair(pair ?? buildPair(0, 'mixed'), inDoubt)
  expect(Object.values(small.items).map(({ length }) => length)).toEqual([2])
})
