import { describe, expect, it } from 'vitest'
import type { Change, Write } from '../../src/core/model/change.ts'
import { createItemState, type Snapshot } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import { checkGuards, findLift, measureFleet, type GuardInput } from '../../src/core/plan/guards.ts'
import { type Guards } from '../../src/core/model/config.ts'
import { buildChange, buildWrite, replaceWith } from '../plans.ts'
import { domain } from './problems.ts'

const open: Guards = {
  maxDomains: { percent: 100 },
  maxChanges: { percent: 100 },
  maxTraffic: 100,
  protect: [],
  freeze: [],
  reason: [],
  order: 'ask',
}

const change = (i: number, more: Partial<Change> = {}): Change =>
  buildChange({
    domain: domain(i),
    action: 'change',
    before: { time: '1' },
    after: { time: '2' },
    ...more,
  })
const changes = (count: number) => Array.from({ length: count }, (_, i) => change(i))

const listRefusals = (guards: Partial<Guards>, more: Partial<GuardInput> = {}): string[] =>
  refuse(guards, more).map(({ message }) => message)

function refuse(guards: Partial<Guards>, more: Partial<GuardInput>) {
  const input = {
    changes: changes(4),
    writes: [],
    fleet: { domains: 12, items: 40 },
    moved: [],
    allow: [],
    now: 0,
    ...more,
  }
  return checkGuards({ ...input, guards: { ...open, ...guards } })
}

describe('maxDomains and maxChanges', () => {
  it.each<[Partial<Guards>, string[]]>([
    [{ maxDomains: { count: 4 } }, []],
    [{ maxDomains: { count: 3 } }, ['maxDomains: 4 of 12 domains would change, more than 3']],
    [{ maxDomains: { percent: 34 } }, []],
    [
      { maxDomains: { percent: 33 } },
      ['maxDomains: 4 of 12 domains would change, 33.33 % and more than 33 %'],
    ],
    [{ maxChanges: { count: 4 } }, []],
    [{ maxChanges: { count: 0 } }, ['maxChanges: 4 of 40 items would change, more than 0']],
    [{ maxChanges: { percent: 10 } }, []],
    [
      { maxChanges: { percent: 9.5 } },
      ['maxChanges: 4 of 40 items would change, 10 % and more than 9.5 %'],
    ],
  ])('%j', (guards, expected) => {
    expect(listRefusals(guards)).toEqual(expected)
  })

  it('apply shares from 10 domains up, numbers always', () => {
    const few = { changes: changes(9), fleet: { domains: 9, items: 9 } }
    expect(listRefusals({ maxDomains: { percent: 1 }, maxChanges: { percent: 1 } }, few)).toEqual(
      [],
    )
    expect(listRefusals({ maxDomains: { count: 1 } }, few)).toHaveLength(1)
    expect(
      listRefusals({ maxDomains: { percent: 89 } }, { ...few, fleet: { domains: 10, items: 10 } }),
    ).toHaveLength(1)
  })

  it('count a domain once, and count releases', () => {
    const release = { action: 'release', after: null } as const
    const both = {
      changes: [change(0), change(0, { item: 'referer', ...release }), change(1, release)],
    }
    expect(listRefusals({ maxDomains: { count: 2 } }, both)).toEqual([])
    expect(listRefusals({ maxDomains: { count: 1 } }, both)).toHaveLength(1)
    expect(listRefusals({ maxChanges: { count: 2 } }, both)).toEqual([
      'maxChanges: 3 of 40 items would change, more than 2',
    ])
  })

  it('are overridden by force; other guards are not', () => {
    const all = {
      maxDomains: { count: 0 },
      maxChanges: { percent: 0 },
      protect: [['*']],
      freeze: [always],
    }
    const destructive = { changes: [change(0, { item: 'extend', after: { squid: 'x' } })] }
    const lifts = refuse(all, destructive).map((each) => [each.guard, findLift(each)])
    expect(lifts).toEqual([
      ['maxDomains', '--force'],
      ['maxChanges', '--force'],
      ['protect', 'none'],
      ['allow', 'none'],
      ['freeze', 'freeze'],
    ])
  })

  it('allow a plan without changes', () => {
    expect(
      listRefusals(
        { maxDomains: { count: 0 }, protect: [['*']], freeze: [always] },
        { changes: [] },
      ),
    ).toEqual([])
  })
})

describe('protected domains', () => {
  it.each<[string[], number[]]>([
    [
      ['*', '!d00001.*'],
      [0, 2, 3],
    ],
    [
      ['*', '!D0000[12].example.com'],
      [0, 3],
    ],
    // A later pattern wins.
    [['*', '!*', 'd00002.*'], [2]],
    [
      ['*', '!d0000[0-2].*', 'd00001.*'],
      [1, 3],
    ],
    [['d00000.*', '!d00000.*'], []],
    // A domain that was not protected is not taken out.
    [['d00000.*', '!d00003.*'], [0]],
  ])('%j in order', (protect, expected) => {
    const only = (i: number) =>
      listRefusals({ protect: [protect] }, { changes: [change(i)] }).length > 0
    expect([0, 1, 2, 3].filter(only)).toEqual(expected)
  })

  it('are matched by whole names, and the message names three', () => {
    expect(listRefusals({ protect: [['d00000.*']] })).toEqual([
      'protect: d00000.example.com is protected',
    ])
    expect(listRefusals({ protect: [['D0*.EXAMPLE.com']] })).toEqual([
      'protect: d00000.example.com, d00001.example.com, d00002.example.com and 1 more ' +
        'are protected',
    ])
    expect(listRefusals({ protect: [['example.com', 'd00000']] })).toEqual([])
  })

  it('are not released', () => {
    expect(
      listRefusals(
        { protect: [['*']] },
        { changes: [change(0, { action: 'release', after: null })] },
      ),
    ).toHaveLength(1)
  })
})

describe('destructive changes', () => {
  const https = (after: Change['after'], more: Partial<Change> = {}) => [
    change(0, { item: 'https', after, ...more }),
  ]
  it.each<[string, Change[], boolean]>([
    ['certificate 0', https({ cert_id: 0, force_https: 0 }), true],
    ['https unset', https(null, { action: 'unset' }), true],
    ['another certificate', https({ cert_id: 2, force_https: 0 }), false],
    ['https released', https(null, { action: 'release' }), false],
    ['extend', [change(0, { item: 'extend', after: { squid: 'x' } })], true],
    ['another item', [change(0)], false],
  ])('%s: %s', (_what, all, isDestructive) => {
    expect(listRefusals({}, { changes: all })).toHaveLength(isDestructive ? 1 : 0)
    expect(listRefusals({}, { changes: all, allow: ['https', 'extend'] })).toEqual([])
    if (isDestructive)
      expect(listRefusals({}, { changes: all, allow: ['timeout'] })).toHaveLength(1)
  })

  it('are reported once for all their domains', () => {
    const all = [0, 1, 2, 3, 4].map((i) => change(i, { item: 'https', after: { cert_id: 0 } }))
    expect(listRefusals({}, { changes: all })).toEqual([
      'https: certificate 0 removes HTTPS ' +
        '(d00000.example.com, d00001.example.com, d00002.example.com and 2 more)',
    ])
  })
})

describe('writes', () => {
  const write = (domains: number[], item: string, payload: Json): Write =>
    buildWrite({ domains: domains.map(domain), items: { [item]: replaceWith(payload) } })
  const single = changes(1)

  it.each<[string, Write]>([
    ['certificate 0', write([0], 'https', { cert_id: 0 })],
    ['extend', write([0], 'extend', { squid: 'x' })],
  ])('with %s have to be allowed', (_what, written) => {
    expect(listRefusals({}, { changes: single, writes: [written] })).toHaveLength(1)
    expect(listRefusals({}, { changes: [], writes: [written] })).toHaveLength(1)
    expect(
      listRefusals({}, { changes: single, writes: [written], allow: ['https', 'extend'] }),
    ).toEqual([])
  })

  it('may touch protected domains, and count with their domains and items', () => {
    const writes = [write([1, 2], 'timeout', { time: '2' })]
    expect(listRefusals({ protect: [['d00002.*']] }, { changes: single, writes })).toEqual([
      'protect: d00002.example.com is protected',
    ])
    expect(listRefusals({ maxDomains: { count: 2 } }, { changes: single, writes })).toHaveLength(1)
    expect(listRefusals({ maxChanges: { count: 2 } }, { changes: single, writes })).toHaveLength(1)
    expect(
      listRefusals(
        { maxChanges: { count: 3 }, maxDomains: { count: 3 } },
        { changes: single, writes },
      ),
    ).toEqual([])
  })
})

const always = { from: '1970-01-01', to: '1970-01-02', timezone: 'UTC', reason: 'sale' }

describe('freeze windows', () => {
  it('report their end and their reason', () => {
    expect(listRefusals({ freeze: [always] })).toEqual([
      'freeze: nothing is applied from 1970-01-01 to 1970-01-02 (UTC): sale',
    ])
    expect(listRefusals({ freeze: [{ ...always, reason: '' }] }, { now: 1 })).toHaveLength(1)
    expect(listRefusals({ freeze: [always] }, { now: 24 * 3600 * 1000 })).toEqual([])
  })
})

describe('measureFleet', () => {
  it('counts each managed or recorded domain and item once', () => {
    const of = (...items: [string, string[]][]): Snapshot =>
      new Map(
        items.map(([name, own]) => [
          name,
          new Map(own.map((item) => [item, createItemState(null)])),
        ]),
      )
    expect(
      measureFleet(of(['a', ['x', 'y']], ['b', ['x']]), of(['a', ['y', 'z']], ['c', ['x']])),
    ).toEqual({ domains: 3, items: 5 })
  })
})
