import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/catalog/catalogue.ts'
import { buildBundles, findGroup } from '../../src/plan/groups.ts'

/** The items that the examples of the specification combine ("POST /domain/config", rule 8). */
const combined = [
  'origin',
  'origin_host',
  'referer',
  'ip_black_list',
  'ip_white_list',
  'add_response_head',
  'https',
  'visit_timestamp',
  'cache_rule',
  'video_drag',
  'compress_response',
]

describe('what may travel in one write', () => {
  it('documented: the eleven items that the examples combine, and every other one alone', () => {
    const withOrigin = [...catalogue.keys()].filter(
      (item) => findGroup(item, 'documented') === findGroup('origin', 'documented'),
    )
    expect(withOrigin.toSorted()).toEqual(combined.toSorted())
    const alone = [...catalogue.keys()].filter((item) => !combined.includes(item))
    expect(new Set(alone.map((item) => findGroup(item, 'documented'))).size).toBe(alone.length)
  })

  it('all: everything', () => {
    expect(new Set([...catalogue.keys()].map((item) => findGroup(item, 'all'))).size).toBe(1)
  })

  it('lists: the items of each list, and every other one alone', () => {
    const groups = [
      ['timeout', 'connect_timeout'],
      ['https', 'extend'],
    ]
    const [first, second, left, right] = ['timeout', 'https', 'origin', 'referer'].map((item) =>
      findGroup(item, groups),
    )
    expect([findGroup('connect_timeout', groups), findGroup('extend', groups)]).toEqual([
      first,
      second,
    ])
    expect(new Set([first, second, left, right]).size).toBe(4)
  })
})

describe('what must travel in one write', () => {
  const bundles = (items: string[], together: string[][]) =>
    buildBundles(items, { groups: 'documented', together }).map((each) => each.items)
  const group = (items: string[], together: string[][]) =>
    buildBundles(items, { groups: 'documented', together }).map((each) => each.group)

  it('items of a set, as far as they change', () => {
    const together = [['origin_host', 'origin', 'new_origin']]
    expect(bundles(['timeout', 'origin_host', 'origin'], together)).toEqual([
      ['origin', 'origin_host'],
      ['timeout'],
    ])
    expect(bundles(['timeout', 'origin'], together)).toEqual([['origin'], ['timeout']])
    expect(bundles(['timeout', 'origin'], [])).toEqual([['origin'], ['timeout']])
  })

  it('sets with an item in common are one set', () => {
    const together = [
      ['origin', 'origin_host'],
      ['timeout', 'connect_timeout'],
      ['origin_host', 'timeout'],
    ]
    expect(bundles(['timeout', 'origin', 'origin_host', 'connect_timeout'], together)).toEqual([
      ['connect_timeout', 'origin', 'origin_host', 'timeout'],
    ])
    // Without the item that they have in common they are two again.
    expect(bundles(['timeout', 'origin', 'connect_timeout'], together)).toEqual([
      ['connect_timeout', 'timeout'],
      ['origin'],
    ])
  })

  it('within one group may have others beside it, and over several groups travels alone', () => {
    expect(group(['origin', 'origin_host', 'https'], [['origin', 'origin_host']])).toEqual([
      'combined',
      'combined',
    ])
    const [alone, https] = group(['origin', 'timeout', 'https'], [['origin', 'timeout']]).toSorted()
    expect([alone, https]).toEqual(['combined', 'together origin timeout'])
  })
})
