import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { createItemState, type ItemKey } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import { listMutants, rankDanger } from '../../src/core/tests/mutants.ts'

const mutate = (item: ItemKey, written: Json) => {
  const { value } = parseItem(getItemSpec(item), written, 'manifest')
  return listMutants(item, createItemState(value ?? null))
}
const show = (item: ItemKey, written: Json) =>
  mutate(item, written).map(({ kind, part, after }) => [kind, part, after])

describe('listMutants', () => {
  it('drops the item and each entry, and changes each other field', () => {
    expect(show('ip_black_list', { list: ['192.0.2.1', '192.0.2.2'] })).toEqual([
      ['drop', '', null],
      ['drop', '/list/0', null],
      ['drop', '/list/1', null],
    ])
    // The only entry can't be dropped.
    expect(show('deny_url', { urls: ['/a'] })).toContainEqual(['change', '/urls/0', '/ax'])
    expect(show('https', { cert_id: 1001, force_https: 301 })).toContainEqual([
      'change',
      '/force_https',
      0,
    ])
    expect(
      show('cache_rule_list', [{ match_method: 'ext', pattern: 'css,js', expire: 1 }]),
    ).toEqual(
      expect.arrayContaining([
        ['change', '/0/pattern', 'js'],
        ['change', '/0/expire', 2],
      ]),
    )
  })

  it('knows which of them no request can show', () => {
    const found = mutate('https', { cert_id: 1001, force_https: 301 })
    expect(found.find(({ part }) => part === '/cert_id')?.isIneffective).toBe(true)
    expect(found.find(({ part }) => part === '/force_https')?.isIneffective).toBe(false)
  })

  it('leaves secrets and unset items as they are', () => {
    expect(listMutants('https', { status: 'unset', candidates: [] })).toEqual([])
    const header = { head_name: 'A', head_value: { $secret: 'unresolved:x' } }
    expect(show('add_back_source_head', [header]).map(([, part]) => part)).not.toContain(
      '/0/head_value',
    )
  })

  it('makes only valid values, of every item', () => {
    for (const [item, spec] of catalogue)
      for (const example of spec.schema.examples ?? [])
        for (const { state } of mutate(item, example))
          if (state !== null)
            expect(
              parseItem(spec, state.ordered ?? null, 'manifest').problems.filter(
                ({ severity }) => severity === 'error',
              ),
            ).toEqual([])
  })
})

it('rankDanger puts access and security before caching, and that before the rest', () => {
  const ranks = ['referer', 'https', 'vendor_origin_auth', 'cache_rule_list', 'timeout']
  expect(ranks.map(rankDanger)).toEqual([0, 0, 0, 1, 2])
})
