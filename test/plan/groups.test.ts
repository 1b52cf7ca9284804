import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { buildBundles, findGroup } from '../../src/core/plan/groups.ts'

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

describe('findGroup', () => {
  it('documented: groups the items that the examples combine; other items are alone', () => {
    const withOrigin = [...catalogue.keys()].filter(
      (item) => findGroup(item, 'documented') === findGroup('origin', 'documented'),
    )
    expect(withOrigin.toSorted()).toEqual(combined.toSorted())
    const alone = [...catalogue.keys()].filter((item) => !combined.includes(item))
    expect(new Set(alone.map((item) => findGroup(item, 'documented'))).size).toBe(alone.length)
  })

  it('all: groups everything', () => {
    expect(new Set([...catalogue.keys()].map((item) => findGroup(item, 'all'))).size).toBe(1)
  })

  it('lists: group the items of each list; other items are alone', () => {
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

describe('buildBundles', () => {
  const bundles = (items: string[], together: string[][]) =>
    buildBundles(items, { groups: 'documented', together }).map((each) => each.items)
  const group = (items: string[], together: string[][]) =>
    buildBundles(items, { groups: 'documented', together }).map((each) => each.group)

  it('bundles the changed items of a set', () => {
    const together = [['origin_host', 'origin', 'new_origin']]
    expect(bundles(['timeout', 'origin_host', 'origin'], together)).toEqual([
      ['origin', 'origin_host'],
      ['timeout'],
    ])
    expect(bundles(['timeout', 'origin'], together)).toEqual([['origin'], ['timeout']])
    expect(bundles(['timeout', 'origin'], [])).toEqual([['origin'], ['timeout']])
  })

  it('merges sets with a common item', () => {
    const together = [
      ['origin', 'origin_host'],
      ['timeout', 'connect_timeout'],
      ['origin_host', 'timeout'],
    ]
    expect(bundles(['timeout', 'origin', 'origin_host', 'connect_timeout'], together)).toEqual([
      ['connect_timeout', 'origin', 'origin_host', 'timeout'],
    ])
    // Without their common item they are two sets.
    expect(bundles(['timeout', 'origin', 'connect_timeout'], together)).toEqual([
      ['connect_timeout', 'timeout'],
      ['origin'],
    ])
  })

  it('lets a bundle of one group share a write, and a bundle of several groups not', () => {
    expect(group(['origin', 'origin_host', 'https'], [['origin', 'origin_host']])).toEqual([
      'combined',
      'combined',
    ])
    const [alone, https] = group(['origin', 'timeout', 'https'], [['origin', 'timeout']]).toSorted()
    expect([alone, https]).toEqual(['combined', 'together origin timeout'])
  })
})
