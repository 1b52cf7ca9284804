import { describe, expect, it } from 'vitest'
import type { Change, Write } from '../../src/model/change.ts'
import { createConfirmedState, type Snapshot } from '../../src/model/item.ts'
import type { Json } from '../../src/model/json.ts'
import { measureFleet, checkGuards, type GuardInput } from '../../src/plan/guards.ts'
import { type Guards } from '../../src/model/config.ts'
import { buildChange, buildWrite, replaceWith } from '../plans.ts'
import { domain } from './problems.ts'

const open: Guards = {
  maxDomains: { percent: 100 },
  maxChanges: { percent: 100 },
  protect: [],
  freeze: [],
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

function refusals(guards: Partial<Guards>, more: Partial<GuardInput> = {}): string[] {
  const input = {
    changes: changes(4),
    writes: [],
    fleet: { domains: 12, items: 40 },
    allow: [],
    force: false,
    now: 0,
    ...more,
  }
  return checkGuards({ ...input, guards: { ...open, ...guards } }).map(({ message }) => message)
}

describe('numbers and shares', () => {
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
    expect(refusals(guards)).toEqual(expected)
  })

  it('shares count from 10 domains up, numbers always', () => {
    const few = { changes: changes(9), fleet: { domains: 9, items: 9 } }
    expect(refusals({ maxDomains: { percent: 1 }, maxChanges: { percent: 1 } }, few)).toEqual([])
    expect(refusals({ maxDomains: { count: 1 } }, few)).toHaveLength(1)
    expect(
      refusals({ maxDomains: { percent: 89 } }, { ...few, fleet: { domains: 10, items: 10 } }),
    ).toHaveLength(1)
  })

  it('a domain counts once, and releases count', () => {
    const release = { action: 'release', after: null } as const
    const both = {
      changes: [change(0), change(0, { item: 'referer', ...release }), change(1, release)],
    }
    expect(refusals({ maxDomains: { count: 2 } }, both)).toEqual([])
    expect(refusals({ maxDomains: { count: 1 } }, both)).toHaveLength(1)
    expect(refusals({ maxChanges: { count: 2 } }, both)).toEqual([
      'maxChanges: 3 of 40 items would change, more than 2',
    ])
  })

  it('are what force overrides, and nothing else', () => {
    const all = {
      maxDomains: { count: 0 },
      maxChanges: { percent: 0 },
      protect: ['*'],
      freeze: [always],
    }
    const grave = { changes: [change(0, { item: 'extend', after: { squid: 'x' } })] }
    const named = (force: boolean) =>
      refusals(all, { ...grave, force }).map((message) => message.split(':')[0])
    expect(named(false)).toEqual(['maxDomains', 'maxChanges', 'protect', 'extend', 'freeze'])
    expect(named(true)).toEqual(['protect', 'extend', 'freeze'])
  })

  it('nothing is refused where nothing changes', () => {
    expect(
      refusals({ maxDomains: { count: 0 }, protect: ['*'], freeze: [always] }, { changes: [] }),
    ).toEqual([])
  })
})

describe('protected domains', () => {
  it('are matched as whole names, and the first three are named', () => {
    expect(refusals({ protect: ['d00000.*'] })).toEqual([
      'protect: d00000.example.com is protected',
    ])
    expect(refusals({ protect: ['D0*.EXAMPLE.com'] })).toEqual([
      'protect: d00000.example.com, d00001.example.com, d00002.example.com and 1 more are protected',
    ])
    expect(refusals({ protect: ['example.com', 'd00000'] })).toEqual([])
  })

  it('are not released either', () => {
    expect(
      refusals({ protect: ['*'] }, { changes: [change(0, { action: 'release', after: null })] }),
    ).toHaveLength(1)
  })
})

describe('grave changes', () => {
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
  ])('%s: %s', (_what, all, grave) => {
    expect(refusals({}, { changes: all })).toHaveLength(grave ? 1 : 0)
    expect(refusals({}, { changes: all, allow: ['https', 'extend'] })).toEqual([])
    if (grave) expect(refusals({}, { changes: all, allow: ['timeout'] })).toHaveLength(1)
  })

  it('are told once for all their domains', () => {
    const all = [0, 1, 2, 3, 4].map((i) => change(i, { item: 'https', after: { cert_id: 0 } }))
    expect(refusals({}, { changes: all })).toEqual([
      'https: certificate 0 takes HTTPS away (d00000.example.com, d00001.example.com, d00002.example.com and 2 more)',
    ])
  })
})

describe('writes count besides the changes', () => {
  const write = (domains: number[], item: string, payload: Json): Write =>
    buildWrite({ domains: domains.map(domain), items: { [item]: replaceWith(payload) } })
  const one = changes(1)

  it.each<[string, Write]>([
    ['certificate 0', write([0], 'https', { cert_id: 0 })],
    ['extend', write([0], 'extend', { squid: 'x' })],
  ])('%s has to be allowed', (_what, written) => {
    expect(refusals({}, { changes: one, writes: [written] })).toHaveLength(1)
    expect(refusals({}, { changes: [], writes: [written] })).toHaveLength(1)
    expect(refusals({}, { changes: one, writes: [written], allow: ['https', 'extend'] })).toEqual(
      [],
    )
  })

  it('their domains may be protected, and are counted with their items', () => {
    const writes = [write([1, 2], 'timeout', { time: '2' })]
    expect(refusals({ protect: ['d00002.*'] }, { changes: one, writes })).toEqual([
      'protect: d00002.example.com is protected',
    ])
    expect(refusals({ maxDomains: { count: 2 } }, { changes: one, writes })).toHaveLength(1)
    expect(refusals({ maxChanges: { count: 2 } }, { changes: one, writes })).toHaveLength(1)
    expect(
      refusals({ maxChanges: { count: 3 }, maxDomains: { count: 3 } }, { changes: one, writes }),
    ).toEqual([])
  })
})

const always = { from: '1970-01-01', to: '1970-01-02', timezone: 'UTC', reason: 'sale' }

describe('freeze windows', () => {
  it('say when they end and why', () => {
    expect(refusals({ freeze: [always] })).toEqual([
      'freeze: nothing is applied from 1970-01-01 to 1970-01-02 (UTC): sale',
    ])
    expect(refusals({ freeze: [{ ...always, reason: '' }] }, { now: 1 })).toHaveLength(1)
    expect(refusals({ freeze: [always] }, { now: 24 * 3600 * 1000 })).toEqual([])
  })
})

describe('fleetOf', () => {
  it('counts what is managed or recorded, once', () => {
    const of = (...items: [string, string[]][]): Snapshot =>
      new Map(
        items.map(([name, own]) => [
          name,
          new Map(own.map((item) => [item, createConfirmedState(null)])),
        ]),
      )
    expect(
      measureFleet(of(['a', ['x', 'y']], ['b', ['x']]), of(['a', ['y', 'z']], ['c', ['x']])),
    ).toEqual({ domains: 3, items: 5 })
  })
})
