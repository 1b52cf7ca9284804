import { describe, expect, it } from 'vitest'
import type { Drift, DriftItem } from '../../../src/core/model/drift.ts'
import { packPage, unpackPage } from '../../../src/core/model/page/packed-page.ts'
import { buildDriftPage } from '../../../src/outlets/report/page/build-drift-page.ts'
import { buildChange } from '../../plans.ts'
import { buildAbout } from './build-page.ts'

const now = Date.UTC(2026, 2, 4)
const item = (letter: string, given: Partial<DriftItem> = {}): DriftItem => ({
  domain: `${letter}.example.com`,
  item: 'timeout',
  kinds: [],
  confidence: 'verified',
  recordedAt: '2026-03-01T00:00:00.000Z',
  pending: [],
  live: [],
  notVerifiable: [],
  held: false,
  ...given,
})
const change = (letter: string, before: string, after: string) =>
  buildChange({
    domain: `${letter}.example.com`,
    action: 'change',
    before: { time: before },
    after: { time: after },
  })
const build = (drift: Partial<Drift>, unmanaged: { domain: string; item: string }[] = []) =>
  buildDriftPage(
    { drift: { items: [], pending: [], live: [], inDoubt: [], ...drift }, unmanaged },
    now,
    buildAbout(),
  )

describe('the page of drift', () => {
  it('has the items that differ, with kinds, confidence, age and lines', () => {
    const page = build({
      items: [
        item('a', { kinds: ['pending', 'live'] }),
        item('b', { kinds: ['pending'], confidence: 'assumed' }),
        item('c'),
      ],
      pending: [change('a', '60', '90'), change('b', '60', '90')],
      live: [change('a', '60', '30')],
    })
    expect(page.domains).toEqual(['a.example.com', 'b.example.com'])
    expect(page.changes.map(({ state }) => state)).toEqual([
      'pending and at the service · recorded 3 d ago',
      'pending · assumed · recorded 3 d ago',
    ])
    expect(page.parts[0]?.lines.map(({ text, isRemark }) => [text, isRemark])).toEqual([
      ['Pending: state → manifests', true],
      ['time  60 → 90', false],
      ['At the service: state → service', true],
      ['time  60 → 30', false],
    ])
    expect(page.parts[1]?.lines).toHaveLength(2)
    expect(page.sentence).toBe(
      'Drift: 2 pending, 1 at the service. Of 3 items: 1 as recorded, 1 differs, ' +
        '1 assumed as recorded (confirmed 3 d ago).',
    )
    expect([page.writes, page.waves]).toEqual([[], []])
  })

  it('names the kinds that the sentence counts, and leaves out what waits for its wave', () => {
    const given: Partial<DriftItem>[] = [
      { kinds: ['pending'] },
      { kinds: ['live'] },
      { kinds: ['pending', 'live'] },
      { kinds: ['waiting'] },
      { kinds: ['waiting'], confidence: 'in-doubt', recordedAt: null },
      { kinds: ['waiting', 'live'] },
      { kinds: ['pending'], held: true },
      { confidence: 'in-doubt' },
      { kinds: ['pending'], confidence: 'in-doubt' },
    ]
    const items = given.map((each, i) => item('abcdefghi'.charAt(i), each))
    const doubts = items.filter((_, i) => i > 6)
    const inDoubt = doubts.map(({ domain }) => ({ domain, item: 'timeout', recordedAt: '' }))
    const page = build({ items, inDoubt })
    expect(page.sentence).toContain('Drift: 3 pending, 1 on hold, 3 at the service, 2 in-doubt.')
    expect(page.sentence).toContain('3 items wait for a later wave: no drift.')
    const kinds = page.changes.map(({ part }) => page.parts[part]?.kinds?.join(' '))
    expect(kinds).toEqual([
      'pending',
      'at the service',
      'pending at the service',
      'at the service',
      'on hold',
      'in-doubt',
      'pending in-doubt',
    ])
    expect(unpackPage(packPage(page)).parts).toEqual(page.parts)
    expect(JSON.stringify(page.changes)).not.toContain('verified')
  })

  it('shares parts that look the same', () => {
    const page = build({
      items: ['a', 'b', 'c'].map((letter) => item(letter, { kinds: ['live'] })),
      live: [change('a', '60', '30'), change('b', '60', '30'), change('c', '60', '31')],
    })
    expect(page.changes.map(({ part }) => part)).toEqual([0, 0, 1])
  })

  it('has in-doubt, never applied and unreadable items, and those on hold', () => {
    const page = build({
      items: [
        item('a', { confidence: 'in-doubt' }),
        item('b', { confidence: 'in-doubt', recordedAt: null }),
        item('c', {
          confidence: 'in-doubt',
          kinds: ['live'],
          unreadable: { pointer: '/time', reason: 'not a \u202enumber' },
        }),
        item('d', { kinds: ['pending'], held: true, hold: 'by rollout r1, stopped: no' }),
      ],
      inDoubt: [{ domain: 'a.example.com', item: 'timeout', recordedAt: '2026-03-01T00:00:00Z' }],
    })
    expect(page.changes.map(({ part, state }) => [page.parts[part]?.note, state])).toEqual([
      ['in-doubt: an apply ended with an unknown outcome', 'in-doubt · recorded 3 d ago'],
      ['', 'in-doubt · never applied'],
      [
        'the observed value is not readable at /time: not a \\u{202e}number',
        'at the service · in-doubt · recorded 3 d ago',
      ],
      ['on hold by rollout r1, stopped: no', 'pending · recorded 3 d ago'],
    ])
    expect(page.notices).toEqual([
      {
        kind: 'on-hold',
        text: 'timeout: by rollout r1, stopped: no',
        domains: ['d.example.com'],
      },
    ])
  })

  it('lists observed items that are not managed, up to a limit', () => {
    const few = build({}, [
      { domain: 'a.example.com', item: 'https' },
      { domain: 'b.example.com', item: 'https' },
    ])
    expect(few.notices).toEqual([
      {
        kind: 'unmanaged',
        text: 'https of 2 domains is observed and not managed here',
        domains: ['a.example.com', 'b.example.com'],
      },
    ])
    const names = Array.from({ length: 6000 }, (_, i) => ({ domain: 'a', item: `i${i}` }))
    const many = build({}, names).notices
    expect(many).toHaveLength(101)
    expect(many[0]?.domains).toEqual([])
    expect(many.at(-1)?.text).toBe('5,900 more items are observed and not managed here')
  })
})
