import { describe, expect, it } from 'vitest'
import { defineItem, type ItemRow } from '../../src/catalog/item-spec.ts'
import { refuse } from '../../src/catalog/problems.ts'
import { parseItemCached } from '../../src/manifest/item-cache.ts'
import type { Domain } from '../../src/model/item.ts'
import type { Json } from '../../src/model/json.ts'

const domains = ['a.example.com', 'b.example.com']
const refuseWithDomain = (_value: Json, domain: Domain) => [refuse('', `for ${domain}`)]

/** Parses one shared value for every domain. */
function parseForAll(row: ItemRow) {
  const spec = defineItem('some_item', { type: 'object' }, row)
  const [value, cache] = [{}, new Map()]
  return domains.map((domain) => parseItemCached(spec, value, domain, cache))
}

function listDetails(row: ItemRow): (string | undefined)[] {
  return parseForAll(row).map(({ problems }) => problems[0]?.detail)
}

describe('a value that several domains share', () => {
  it('is parsed once if its check does not depend on the domain', () => {
    let checks = 0
    const [first, second] = parseForAll({
      check: () => {
        checks++
        return []
      },
    })
    expect(second).toBe(first)
    expect(checks).toBe(1)
  })

  it('is parsed for each domain if its check depends on it', () => {
    const details = listDetails({ dependsOnDomain: true, check: refuseWithDomain })
    expect(details).toEqual(['for a.example.com', 'for b.example.com'])
  })

  it('is not shared between items', () => {
    const [value, cache] = [{}, new Map()]
    const details = ['some_item', 'other_item'].map((key) => {
      const spec = defineItem(key, { type: 'object' }, { check: () => [refuse('', key)] })
      const { problems } = parseItemCached(spec, value, 'a.example.com', cache)
      return problems[0]?.detail
    })
    expect(details).toEqual(['some_item', 'other_item'])
  })
})

describe('a check whose row does not declare dependsOnDomain', () => {
  it('does not compile with a domain parameter, and gets no domain', () => {
    // @ts-expect-error a check of two parameters needs dependsOnDomain
    const forgotten: ItemRow = { check: refuseWithDomain }
    expect(listDetails(forgotten)).toEqual(['for undefined', 'for undefined'])
  })

  it('gets no domain through rest parameters', () => {
    const rest: ItemRow = { check: (...given) => [refuse('', String(given.length))] }
    expect(listDetails(rest)).toEqual(['1', '1'])
  })
})
