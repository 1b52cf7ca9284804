import { describe, expect, it } from 'vitest'
import { createConfirmedState, type ItemState } from '../../src/model/item.ts'
import { findVersion, isKnownUnchanged, KnownItems } from '../../src/model/known-items.ts'

const entries: [string, ItemState][] = [
  ['https', createConfirmedState({ http2: 'on' })],
  ['timeout', createConfirmedState({ time: '60' })],
]

/** Creates items, and counts how often they are built. */
function create(version = 'a'): { items: KnownItems<ItemState>; count: () => number } {
  let built = 0
  const build = () => {
    built++
    return entries
  }
  return { items: new KnownItems(version, entries.length, build), count: () => built }
}

describe('known items', () => {
  it.each<[string, (items: Map<string, ItemState>) => unknown, unknown]>([
    ['get', (items) => items.get('timeout'), entries[1]?.[1]],
    ['has', (items) => items.has('timeout'), true],
    ['keys', (items) => [...items.keys()], ['https', 'timeout']],
    ['values', (items) => [...items.values()], entries.map(([, state]) => state)],
    ['entries', (items) => [...items.entries()], entries],
    ['iteration', (items) => [...items], entries],
    ['a copy', (items) => [...new Map(items)], entries],
    ['fromEntries', (items) => Object.fromEntries(items), Object.fromEntries(entries)],
    [
      'forEach',
      (items) => {
        const found: unknown[] = []
        items.forEach((state, item) => found.push([item, state]))
        return found
      },
      entries,
    ],
  ])('are built once by %s', (_name, use, expected) => {
    const { items, count } = create()
    expect(use(items)).toEqual(expected)
    expect(use(items)).toEqual(expected)
    expect(count()).toBe(1)
    expect(items.version).toBe('a')
  })

  it('have a size and a version before they are built', () => {
    const { items, count } = create()
    expect([items.size, findVersion(items), count()]).toEqual([2, 'a', 0])
  })

  it.each<[string, (items: Map<string, ItemState>) => unknown, number]>([
    ['set', (items) => items.set('origin', createConfirmedState(1)), 3],
    ['delete', (items) => items.delete('https'), 1],
    ['clear', (items) => items.clear(), 0],
  ])('have no version after %s', (_name, change, size) => {
    const { items } = create()
    change(items)
    expect([findVersion(items), items.size, [...items.keys()].length]).toEqual([null, size, size])
  })

  it('are unchanged if they have the same version', () => {
    expect(isKnownUnchanged(create().items, create().items)).toBe(true)
    expect(isKnownUnchanged(create().items, create('b').items)).toBe(false)
    expect(isKnownUnchanged(new Map(entries), new Map(entries))).toBe(false)
    expect(isKnownUnchanged(undefined, undefined)).toBe(false)
  })
})
