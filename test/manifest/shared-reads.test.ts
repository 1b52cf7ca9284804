import { describe, expect, it } from 'vitest'
import { defineItem, type ItemRow } from '../../src/catalog/item-spec.ts'
import { refuse } from '../../src/catalog/problems.ts'
import { parseItemCached } from '../../src/manifest/item-cache.ts'
import type { Domain } from '../../src/model/item.ts'
import type { Json } from '../../src/model/json.ts'

const domains = ['a.example.com', 'b.example.com']
const nameDomain = (_value: Json, domain: Domain) => [refuse('', `for ${domain}`)]

/** Reads one shared value for every domain. */
function readForAll(row: ItemRow) {
  const spec = defineItem('some_item', { type: 'object' }, row)
  const [value, sharedReads] = [{}, new Map()]
  return domains.map((domain) => parseItemCached(spec, value, domain, sharedReads))
}

function detailsForAll(row: ItemRow): (string | undefined)[] {
  return readForAll(row).map(({ problems }) => problems[0]?.detail)
}

describe('a value that several domains share', () => {
  it('is read once when its check does not depend on the domain', () => {
    let checks = 0
    const [first, second] = readForAll({
      check: () => {
        checks++
        return []
      },
    })
    expect(second).toBe(first)
    expect(checks).toBe(1)
  })

  it('is read for each domain when its check depends on it', () => {
    const details = detailsForAll({ dependsOnDomain: true, check: nameDomain })
    expect(details).toEqual(['for a.example.com', 'for b.example.com'])
  })

  it('is not shared between items', () => {
    const [value, sharedReads] = [{}, new Map()]
    const details = ['some_item', 'other_item'].map((key) => {
      const spec = defineItem(key, { type: 'object' }, { check: () => [refuse('', key)] })
      const { problems } = parseItemCached(spec, value, 'a.example.com', sharedReads)
      return problems[0]?.detail
    })
    expect(details).toEqual(['some_item', 'other_item'])
  })
})

describe('a check whose row does not say that it depends on the domain', () => {
  it('does not compile when it takes the domain, and gets none', () => {
    // @ts-expect-error a check of two parameters needs dependsOnDomain
    const forgotten: ItemRow = { check: nameDomain }
    expect(detailsForAll(forgotten)).toEqual(['for undefined', 'for undefined'])
  })

  it('gets no domain through the rest of its parameters', () => {
    const rest: ItemRow = { check: (...given) => [refuse('', String(given.length))] }
    expect(detailsForAll(rest)).toEqual(['1', '1'])
  })
})
