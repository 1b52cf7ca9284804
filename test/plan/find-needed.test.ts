import { describe, expect, it } from 'vitest'
import { findNeeded } from '../../src/core/plan/find-needed.ts'
import { buildChange } from '../plans.ts'

const origin = buildChange({ item: 'origin' })
const host = buildChange({ item: 'origin_host' })
const black = buildChange({ item: 'ip_black_list' })
const white = buildChange({
  item: 'ip_white_list',
  action: 'unset',
  reason: 'cleared',
  by: 'ip_black_list',
})

const changes = [origin, host, black, white]

function find(planned: object[], { applied = [] as object[], touched = [] as object[] } = {}) {
  return findNeeded(changes, {
    isPlanned: (change) => planned.includes(change),
    isApplied: (change) => applied.includes(change),
    isUntouched: (change) => !touched.includes(change),
    together: [['origin', 'origin_host', 'new_origin']],
  })
}

describe('a part of a plan', () => {
  it.each([
    ['no change', []],
    ['all changes', changes],
    ['items that belong together', [origin, host]],
    ['an item with the one that it empties', [black, white]],
  ])('with %s needs no other change', (_what, planned) => {
    expect(find(planned)).toEqual([])
  })

  it('needs the other items that take effect together', () => {
    expect(find([host])).toEqual([{ planned: host, other: origin, reason: 'together' }])
    expect(find([host], { applied: [host], touched: [origin] })).toHaveLength(1)
  })

  it('may restore the values that were applied together', () => {
    expect(find([host], { applied: [host] })).toEqual([])
  })

  it('needs both the item that empties another one, and the emptied one', () => {
    expect(find([black])).toEqual([{ planned: black, other: white, reason: 'emptied' }])
    expect(find([white])).toEqual([{ planned: white, other: black, reason: 'emptied' }])
  })

  it('needs neither a release nor a change of which only a secret may differ', () => {
    const others = [
      { ...host, action: 'release' as const },
      { ...host, reason: 'secret-unknown' as const },
    ]
    for (const other of others) {
      const part = { isPlanned: (change: object) => change === origin, isApplied: () => false }
      const rest = { isUntouched: () => false, together: [['origin', 'origin_host']] }
      expect(findNeeded([origin, other], { ...part, ...rest })).toEqual([])
    }
  })
})
