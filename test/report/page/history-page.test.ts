// @module-tag often
// @module-tag nightly
import { describe, expect, it } from 'vitest'
import {
  buildHistoryPage,
  type PageHistory,
} from '../../../src/outlets/report/page/build-history-page.ts'
import { formatPage } from '../../../src/outlets/report/page/format-page.ts'
import { parsePage } from './parse-page.ts'
import { buildAbout } from './build-page.ts'

type Entry = PageHistory['applies'][number]
type Change =
  NonNullable<Entry['changes']> extends ReadonlyMap<string, infer Items>
    ? Items extends ReadonlyMap<string, infer One>
      ? One
      : never
    : never

const counts = { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 }
const changed = (before: string, after: string): Change => ({
  before: { status: 'confirmed', candidates: [{ time: before }] },
  after: [{ time: after }],
  outcome: 'confirmed',
})

function entry(id: string, day: number, given: Partial<Entry['apply']> = {}): Entry {
  const startedAt = `2026-11-${String(day).padStart(2, '0')}T10:00:00.000Z`
  const apply: Entry['apply'] = {
    id,
    startedAt,
    endedAt: startedAt.replace('10:00:00', '10:01:12'),
    commit: '4f0c2d9aaaaaaaaaaaaa',
    author: 'ann',
    writes: counts,
    parts: { ...counts, confirmed: 2 },
    outcome: 'complete',
    ...given,
  }
  return { apply, changes: new Map() }
}

function withChanges(each: Entry, ...changes: [domain: string, item: string, change: Change][]) {
  const all = new Map<string, Map<string, Change>>()
  for (const [domain, item, change] of changes)
    all.set(domain, new Map([...(all.get(domain) ?? []), [item, change]]))
  return { ...each, changes: all }
}

const build = (applies: Entry[], given: Partial<PageHistory> = {}, about = buildAbout()) =>
  buildHistoryPage({ applies, dropped: 0, domain: null, ...given }, about)

describe('the page of a history', () => {
  it('begins with the last apply, then counts all', () => {
    const page = build([
      entry('a', 3),
      entry('b', 4, { outcome: 'incomplete' }),
      entry('c-w2', 5, { outcome: 'unfinished', endedAt: null, author: null }),
    ])
    expect(page.sentence).toBe(
      'The last apply is unfinished (wave 2 of a rollout): 5 November 2026, 10:00 UTC, commit ' +
        '4f0c2d9aaaaa; writes: 1 confirmed. 3 applies since 3 November 2026: 1 complete, ' +
        '1 incomplete, 1 unfinished.',
    )
    expect(build([entry('a', 3)]).sentence).not.toContain('earlier one')
    const domain = { name: 'a.example.com', pruned: 2 }
    for (const given of [{ dropped: 1 }, { domain }])
      expect(build([entry('a', 3)], given).sentence).toMatch(/ No earlier one is listed\.$/)
  })

  it('is a page without applies if there are none', () => {
    const page = build([])
    expect([page.sentence, page.applies]).toEqual(['There are no applies yet.', []])
    expect(formatPage(page)).not.toContain('<table>')
    expect(build([], { domain: { name: 'a.example.com', pruned: 2 } })).toMatchObject({
      sentence: 'No apply has written a.example.com as far as is stored.',
      facts: [
        ['Workspace', 'storefront'],
        ['Pruned', '2 applies, which may have written it too'],
      ],
    })
  })

  it('has the latest apply first, and the waves of a rollout together', () => {
    const ids = ['a', 'r-w1', 'b', 'r-w2', 'c', 's-w1']
    const { applies } = build(ids.map((id, i) => entry(id, i + 1)))
    expect(applies?.map(({ id, rollout }) => [id, rollout])).toEqual([
      ['s-w1', { id: 's', wave: 1, rollback: null }],
      ['c', null],
      ['r-w2', { id: 'r', wave: 2, rollback: 'edgewise rollback r' }],
      ['r-w1', { id: 'r', wave: 1, rollback: 'edgewise rollback r' }],
      ['b', null],
      ['a', null],
    ])
  })

  it('shares equal changes of domains and of applies', () => {
    const same = changed('60', '90')
    const page = build([
      withChanges(entry('a', 1), ['b.example.com', 'timeout', same]),
      withChanges(
        entry('b', 2),
        ['b.example.com', 'timeout', same],
        ['a.example.com', 'timeout', same],
        ['c.example.com', 'timeout', { ...same, outcome: 'unchanged' }],
      ),
    ])
    expect(page.domains).toEqual(['a.example.com', 'b.example.com', 'c.example.com'])
    expect(page.parts.map(({ action, note, lines }) => [action, note, lines[0]?.text])).toEqual([
      ['change', '', 'time  60 → 90'],
      ['change', 'not sent, or refused: state was the same afterwards', 'time  60 → 90'],
    ])
    expect(
      page.changes.map(({ writes, part, state, domain }) => [...writes, part, state, domain]),
    ).toEqual([
      [0, 0, 'confirmed', 1],
      [0, 0, 'confirmed', 0],
      [0, 1, 'unchanged', 2],
      [1, 0, 'confirmed', 1],
    ])
  })

  it('names the rollback, or the reason why there is none', () => {
    const change = changed('60', '90')
    const some = (each: Entry) => withChanges(each, ['a.example.com', 'timeout', change])
    const pruned: Entry = { ...entry('old', 1, { pruned: true }), changes: null }
    const applies = [
      pruned,
      entry('empty', 2),
      some(entry('x; rm -rf /', 3)),
      some(entry('fine', 4)),
      some(entry('open', 5, { outcome: 'unfinished', endedAt: null })),
    ]
    const page = build(applies, { dropped: 4 })
    expect(page.applies?.map(({ id, rollback, note }) => [id, rollback, note])).toEqual([
      ['open', null, expect.stringContaining('has not ended')],
      ['fine', 'edgewise rollback fine', ''],
      ['x; rm -rf /', null, ''],
      ['empty', null, expect.stringContaining('changed nothing')],
      ['old', null, expect.stringContaining('Pruned')],
    ])
    expect(page.facts.slice(1)).toEqual([
      ['Pruned', expect.stringContaining('1 apply, listed without changes')],
      ['Not listed any more', '4 applies before these'],
    ])
    const domain = { name: 'a.example.com', pruned: 0 }
    expect(build([some(entry('fine', 4))], { domain }).applies?.[0]?.rollback).toBe(
      'edgewise rollback fine --target a.example.com',
    )
  })

  it('has no secret, nor an invisible character', () => {
    const bad = 'hunter2\u202e'
    const hostile = withChanges(entry(`id-${bad}`, 1, { author: bad, commit: bad }), [
      'a.example.com',
      'timeout',
      changed(bad, '9'),
    ])
    const about = buildAbout({ redact: (text) => text.replaceAll('hunter2', '***') })
    const text = JSON.stringify(build([hostile], {}, about))
    expect(text).not.toMatch(/hunter2|\u202e/)
    expect(text).toContain('***')
  })

  it('is below 5 MB for a large fleet and history, and names what it lacks', () => {
    const domains = Array.from({ length: 10_000 }, (_, i) => `domain-${i}.shop.example.com`)
    const large = Array.from({ length: 20 }, (_, day) =>
      withChanges(
        entry(`large-${day}`, day + 1),
        ...domains.map((domain, i): [string, string, Change] => [
          domain,
          'timeout',
          changed(`${day}-${i}`, `${day + 1}-${i}`),
        ]),
      ),
    )
    const small = Array.from({ length: 5000 }, (_, i) => entry(`small-${i}-${'x'.repeat(80)}`, 1))
    const page = build([...small, ...large])
    const newest = page.changes.flatMap(({ domain, writes }) => (writes[0] === 0 ? domain : []))
    expect(new Set(newest).size).toBe(10_000)
    expect(page.applies?.[19]).toMatchObject({
      hasChanges: false,
      note: expect.stringContaining('edgewise state history DOMAIN'),
    })
    const [left, values] = page.facts.slice(1)
    expect(left?.[1]).toMatch(
      /^[\d,]+ applies before these, since .* "edgewise state history" lists/,
    )
    expect(values?.[1]).toMatch(/^values of [\d,]+ kinds of changes, since this file would be too/)
    const html = formatPage(page)
    expect(html.length).toBeLessThan(5e6)
    expect(html.length).toBeGreaterThan(2e6)
    const parsed = parsePage(html)
    expect(parsed.applies).toEqual(page.applies)
    expect(JSON.stringify(parsed.changes)).toBe(JSON.stringify(page.changes))
  })

  it('has the applies in a table without scripts', () => {
    const html = formatPage(build([entry('a', 1, { author: '<b>ann' })]))
    const [, row = ''] = /<tbody>(.*?)<\/tbody>/.exec(html) ?? []
    for (const text of ['complete', '2026-11-01T10:00:00Z', '1 min 12 s', '&lt;b&gt;ann'])
      expect(row).toContain(text)
    expect(row).toContain('2 confirmed')
  })
})
