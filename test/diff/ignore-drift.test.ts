import { describe, expect, it } from 'vitest'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import { ignoreDrift, createIgnoreLookup, type Ignored } from '../../src/core/diff/ignore-drift.ts'
import type { Observed } from '../../src/core/model/drift.ts'
import { createItemState, type ItemState, type Value } from '../../src/core/model/item.ts'

const domain = 'www.example.com'
const at = '2026-01-01T00:00:00.000Z'
const reason = 'the vendor renews it'

function compare(
  recorded: Value,
  seen: Value,
  rules: Ignored[],
  observedMore: object = {},
  status: ItemState['status'] = 'confirmed',
) {
  const state = { ...createItemState(recorded), status, at }
  const observed: Observed = new Map([
    [
      domain,
      new Map([['https', { state: createItemState(seen), notVerifiable: [], ...observedMore }]]),
    ],
  ])
  const desired = new Map([[domain, new Map<string, ItemState>([['https', state]])]])
  const drift = detectDrift(new Map([[domain, new Map([['https', state]])]]), desired, observed)
  return ignoreDrift(drift, () => rules)
}

describe('ignored differences', () => {
  it('are no drift, and have their reason', () => {
    const rules = [{ pointer: '/cert_id', reason }]
    const { items, live } = compare({ cert_id: 1 }, { cert_id: 2 }, rules)
    expect(items).toMatchObject([{ kinds: [], live: [], ignored: reason, confidence: 'verified' }])
    expect(live).toEqual([])
  })

  it('leave the other differences of the item', () => {
    const rules = [{ pointer: '/cert_id', reason }]
    const { items, live } = compare({ cert_id: 1, a: 1 }, { cert_id: 2, a: 2 }, rules)
    expect(items).toMatchObject([
      { kinds: ['live'], live: [{ op: 'replace', path: '/a', value: 2 }], ignored: reason },
    ])
    expect(live).toHaveLength(1)
  })

  it('are those within the pointer, and not of a longer name', () => {
    const rules = [{ pointer: '/a', reason }]
    expect(compare({ a: { b: 1 } }, { a: { b: 2 } }, rules).live).toEqual([])
    expect(compare({ ab: 1 }, { ab: 2 }, rules).live).toHaveLength(1)
    expect(compare({ ab: 1 }, { ab: 2 }, rules).items[0]?.ignored).toBeUndefined()
  })

  it('may be a whole item, also one whose value is unreadable', () => {
    const rules = [{ pointer: '', reason }]
    expect(compare({ a: 1 }, { b: 2 }, rules).live).toEqual([])
    const unreadable = { unreadable: { pointer: '/x', reason: 'expected a number' } }
    const [item] = compare({ a: 1 }, { a: 1 }, rules, unreadable).items
    expect(item).toMatchObject({ kinds: [], confidence: 'assumed', ignored: reason })
    expect(item?.unreadable).toBeUndefined()
  })

  it('do not settle an item that is recorded as in-doubt', () => {
    const rules = [{ pointer: '', reason }]
    const unreadable = { unreadable: { pointer: '/x', reason: 'expected a number' } }
    const { items, inDoubt } = compare({ a: 1 }, { a: 1 }, rules, unreadable, 'in-doubt')
    expect(items).toMatchObject([{ kinds: [], confidence: 'in-doubt', ignored: reason }])
    expect(inDoubt).toHaveLength(1)
  })

  it('need a rule for the domain and the item', () => {
    const find = createIgnoreLookup(
      [{ domain: '*.example.com', item: 'https', pointer: '/cert_id', reason }],
      1,
    )
    expect(find(domain, 'https')).toHaveLength(1)
    expect(find(domain, 'origin')).toEqual([])
    expect(find('example.com', 'https')).toEqual([])
  })
})
