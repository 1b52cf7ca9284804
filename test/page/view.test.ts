import { describe, expect, it } from 'vitest'
import {
  formatClock,
  formatCount,
  formatDuration,
  formatNoun,
} from '../../src/core/model/page/page-words.ts'
import { createLitTest, groupChanges, indexPage } from '../../src/outlets/page/index-page.ts'
import { computeWindow, moveCell, scrollToRow } from '../../src/outlets/page/moves.ts'
import { select } from '../../src/outlets/page/select.ts'
import { emptyView, formatHash, isFiltered, parseHash } from '../../src/outlets/page/view.ts'
import { buildPage } from './build-page.ts'

const index = indexPage(buildPage())

describe('the hash of the address', () => {
  it.each([
    [emptyView, '#'],
    [{ ...emptyView, domain: 'shop', item: 'https' }, '#domain=shop&item=https'],
    [
      { ...emptyView, domain: 'a b&c=d%', item: 'x', action: 'set', write: '3', wave: '2' },
      '#domain=a+b%26c%3Dd%25&item=x&action=set&write=3&wave=2',
    ],
    [
      { ...emptyView, apply: 'a-w1', outcome: 'incomplete', author: 'ann & bo' },
      '#apply=a-w1&outcome=incomplete&author=ann+%26+bo',
    ],
    [{ ...emptyView, cell: 'a/b.example/https' }, '#cell=a/b.example/https'],
  ])('has each choice of a view (%#)', (view, hash) => {
    expect(formatHash(view)).toBe(hash)
    expect(parseHash(hash)).toEqual(view)
  })

  it.each(['', '#', '#main', '#write=x&wave=-1', '#cell=https', '#%E0%A4%A', '#write=1e9&own=1'])(
    'without a known choice (%s) shows all',
    (hash) => expect(parseHash(hash)).toEqual(emptyView),
  )

  it('is no filter for a selected cell alone', () => {
    const cell = 'a/b'
    expect(isFiltered({ ...emptyView, cell })).toBe(false)
    expect(isFiltered({ ...emptyView, cell, wave: '1' })).toBe(true)
  })
})

describe('the filters', () => {
  it.each([
    ['#', [0, 1, 2, 3, 4]],
    ['#domain=IMG', [1, 3]],
    ['#domain=+shop+', [4]],
    ['#item=timeout', [2, 3, 4]],
    ['#action=change', [0, 1, 4]],
    ['#write=2', [4]],
    ['#wave=1', [0, 1, 2, 3]],
    ['#wave=1&action=set&domain=css', [2]],
    ['#write=99', []],
  ])('%s pass changes %j', (hash, positions) => {
    expect(select(index, parseHash(hash)).matches).toEqual(positions)
  })

  it('group equal changes, the destructive ones first, then the most frequent', () => {
    const groups = groupChanges(index, [2, 0, 1, 4])
    expect(groups.map((group) => [group[0]?.part, group.length])).toEqual([
      [2, 1],
      [0, 2],
      [1, 1],
    ])
  })
})

describe('the light', () => {
  const listLit = (writes: number[]) => {
    const isLit = createLitTest(index.page, writes)
    return [0, 1, 2].flatMap((domain) =>
      [0, 1].filter((item) => isLit(domain, item)).map((item) => `${domain}/${item}`),
    )
  }

  it('is the rectangle of a write', () => {
    expect(listLit([0])).toEqual(['0/0', '0/1', '1/0', '1/1'])
    expect(listLit([1])).toEqual(['2/1'])
    expect(listLit([])).toEqual([])
  })

  it.each([
    ['#', []],
    ['#write=2', [1]],
    ['#cell=css.example.com/https', [0]],
    ['#cell=css.example.com/https&write=1', [0]],
    ['#cell=css.example.com/https&write=2', [1]],
    ['#cell=shop.example.com/https', []],
    ['#cell=other.example/https', []],
    ['#cell=/css.example.com/https', []],
  ])('of %s is that of writes %j', (hash, writes) => {
    expect(select(index, parseHash(hash)).lit).toEqual(writes)
  })
})

describe('a history', () => {
  const apply = (id: string, given: object = {}) => ({
    id,
    rollout: null,
    outcome: 'complete' as const,
    startedAt: '',
    took: '',
    grounds: '',
    author: 'ann',
    tree: null,
    writes: '',
    parts: '',
    rollback: null,
    note: '',
    hasChanges: true,
    ...given,
  })
  const { changes: all, ...page } = buildPage({ writes: [], waves: [] })
  const changes = all.map((change, i) => ({ ...change, writes: [i < 2 ? 0 : 1] }))
  const applies = [
    apply('b'),
    apply('r-w1', { author: 'bo', rollout: { id: 'r', wave: 1, rollback: null } }),
    apply('a', { hasChanges: false }),
  ]
  const history = indexPage({ ...page, changes, applies })

  it.each([
    ['#', { entries: [0, 1, 2], chosen: 0, matches: [0, 1] }],
    ['#apply=r-w1', { entries: [0, 1, 2], chosen: 1, matches: [2, 3, 4] }],
    ['#apply=r', { entries: [0, 1, 2], chosen: 1, matches: [2, 3, 4] }],
    ['#author=bo', { entries: [1], chosen: 1, matches: [2, 3, 4] }],
    ['#domain=shop', { entries: [1], chosen: 1, matches: [4] }],
    ['#item=timeout&apply=b', { entries: [1], chosen: 0, matches: [] }],
    ['#outcome=incomplete', { entries: [], chosen: null, matches: [] }],
    ['#cell=css.example.com/timeout&apply=r-w1', { chosen: 1, selected: 2 }],
    ['#cell=css.example.com/timeout', { chosen: 0, selected: null }],
  ])('%s selects %j', (hash, selection) => {
    expect(select(history, parseHash(hash))).toMatchObject(selection)
  })
})

describe('the rows', () => {
  it.each([
    [0, 280, 10_000, { first: 0, end: 18 }],
    [2800, 280, 10_000, { first: 92, end: 118 }],
    [2810, 280, 10_000, { first: 92, end: 119 }],
    [279_720, 280, 10_000, { first: 9982, end: 10_000 }],
    [-50, 280, 3, { first: 0, end: 3 }],
    [99_999, 280, 0, { first: 0, end: 0 }],
  ])('at %i px of %i px of %i are %j', (top, height, count, rows) => {
    expect(computeWindow(top, height, 28, count)).toEqual(rows)
  })

  it.each([
    [5, 0, 0],
    [9, 0, 40],
    [3, 200, 84],
  ])('scroll to row %i from %i px to %i px', (row, top, scrolled) => {
    expect(scrollToRow(row, top, 280, 28, 40)).toBe(scrolled)
  })
})

describe('the keys of the matrix', () => {
  it.each([
    ['ArrowUp', false, { row: 4, column: 2 }],
    ['ArrowDown', false, { row: 6, column: 2 }],
    ['ArrowLeft', false, { row: 5, column: 1 }],
    ['ArrowRight', false, { row: 5, column: 3 }],
    ['Home', false, { row: 5, column: 0 }],
    ['End', false, { row: 5, column: 3 }],
    ['Home', true, { row: 0, column: 0 }],
    ['End', true, { row: 19, column: 3 }],
    ['PageUp', false, { row: 0, column: 2 }],
    ['PageDown', false, { row: 15, column: 2 }],
    ['a', false, null],
    ['toString', false, null],
  ])('%s (control: %s) moves to %j', (key, hasControl, to) => {
    const size = { rows: 20, columns: 4 }
    expect(moveCell({ row: 5, column: 2 }, key, hasControl, size, 10)).toEqual(to)
  })

  it('move nowhere without cells', () => {
    expect(moveCell({ row: 0, column: 0 }, 'End', true, { rows: 0, columns: 0 }, 10)).toBe(null)
  })
})

describe('numbers', () => {
  it('have commas, nouns and units', () => {
    expect([0, 999, 1000, 1_234_567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567'])
    expect([1, 2000].map((n) => formatNoun(n, 'write'))).toEqual(['1 write', '2,000 writes'])
    expect([0, 59.6, 90, 4800, 90_000].map(formatDuration)).toEqual([
      '0 s',
      '1 min',
      '1 min 30 s',
      '1 h 20 min',
      '1 d 1 h',
    ])
    expect([0, 4.2, 65, 3600].map(formatClock)).toEqual(['0:00', '0:04', '1:05', '1:00:00'])
  })
})
