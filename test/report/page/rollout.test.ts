import { describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../../src/core/model/events.ts'
import { addHealth } from '../../../src/outlets/report/page/build-rollout.ts'
import { buildStatistics, formatMinute } from '../../health/statistics.ts'
import { buildWave } from '../../page/build-page.ts'

const time = formatMinute(0)
const writes = [1, 2, 3].map((wave) => ({ id: 10 + wave, wave }))
const planned = [1, 2, 3].map((wave) => buildWave(wave))
const sample = { requests: 3000, bad: 30 }
const start: Extract<ApplyEvent, { type: 'apply.started' }> = {
  type: 'apply.started',
  time,
  apply: 'a1',
  writes: 3,
  releases: 0,
  waves: 3,
}
const finished = {
  type: 'apply.finished' as const,
  time,
  apply: 'a1',
  stopped: null,
  confirmed: 1,
  refused: 0,
  inDoubt: 0,
  notSent: 0,
  parts: { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 },
}
const begun = (wave: number): ApplyEvent => ({
  type: 'write.started',
  time,
  id: 10 + wave,
  domains: ['a.example.com'],
  items: ['origin'],
})
const written = (wave: number): ApplyEvent => ({ type: 'wave.finished', time, wave })
const waiting = (wave: number, reason: 'pause' | 'health' | 'baseline'): ApplyEvent => ({
  type: 'wave.waiting',
  time,
  wave,
  waves: 3,
  domains: 4,
  until: formatMinute(35),
  reason,
})
const watched = (wave: number): ApplyEvent => ({
  type: 'wave.watched',
  time,
  wave,
  statuses: ['502'],
  before: sample,
  after: { requests: 1500, bad: 0 },
})
type Judged = Extract<ApplyEvent, { type: 'wave.judged' }>
const judged = (wave: number, given: Partial<Judged> = {}): ApplyEvent => ({
  type: 'wave.judged',
  time,
  wave,
  verdict: 'same-or-better',
  reason: null,
  before: sample,
  after: { requests: 120_000, bad: 1 },
  worse: [],
  statistics: buildStatistics([1, 1, 1], [1, 2]),
  ...given,
})
const unclear = (wave: number) => judged(wave, { verdict: 'too-little-data', reason: 'a gust' })
const worse = (wave: number, reason = '5xx rose') =>
  judged(wave, {
    verdict: 'worse',
    reason,
    worse: [{ domain: 'a\u202e.example.com', before: sample, after: { requests: 10, bad: 5 } }],
  })

const build = (...events: ApplyEvent[]) =>
  addHealth([start, ...events], writes, planned, (text) => text.replaceAll('hunter2', '***'))
const find = (wave: number, ...events: ApplyEvent[]) =>
  build(...events)?.waves.find((each) => each.wave === wave)?.health
const list = (rollout: ReturnType<typeof build>) =>
  rollout?.waves.map(({ wave, health }) => `${wave} ${health?.state}`)

describe('the rollout of a page', () => {
  it('is none for an apply without waves', () => {
    const { waves: _, ...plain } = start
    for (const events of [[plain, begun(1), written(1), finished], []])
      expect(addHealth(events, writes, planned, String)).toBeNull()
  })

  it.each<[string, string | undefined, ApplyEvent[]]>([
    ['not begun', 'not-begun', []],
    ['begun and not finished', 'begun', [begun(1)]],
    ['written without a health check', 'unchecked', [begun(1), written(1), waiting(1, 'pause')]],
    ['waiting for its baseline', 'waiting', [waiting(1, 'baseline')]],
    ['begun after its baseline', 'begun', [waiting(1, 'baseline'), begun(1)]],
    ['being checked', 'running', [written(1), waiting(1, 'health')]],
    ['checked in part', 'running', [written(1), waiting(1, 'health'), watched(1)]],
    ['healthy', 'healthy', [written(1), waiting(1, 'health'), watched(1), judged(1)]],
    ['healthy, then in a pause', 'healthy', [written(1), judged(1), waiting(1, 'pause')]],
    ['worse', 'worse', [written(1), worse(1)]],
    ['unclear', 'unclear', [written(1), unclear(1)]],
    ['checked again', 'running', [written(1), unclear(1), waiting(1, 'health')]],
    ['healthy at last', 'healthy', [written(1), unclear(1), waiting(1, 'health'), judged(1)]],
  ])('has a wave that is %s', (_, state, events) => {
    expect(find(1, ...events)?.state).toBe(state)
  })

  it('has the verdict, its reason, its rule and its curve', () => {
    expect(find(2, begun(2), written(2), worse(2))).toEqual({
      state: 'worse',
      reason: '5xx rose',
      figures: '5xx: 1.00 % of 3,000 requests before, <0.01 % of 120,000 requests after.',
      rule:
        'Worse if the share of 5xx rises by more than 1 percentage point and by more than chance ' +
        'explains, with 500 requests or more in each window.',
      checks: 1,
      worse: [
        {
          domain: String.raw`a\u{202e}.example.com`,
          before: sample,
          after: { requests: 10, bad: 5 },
        },
      ],
      curve: {
        statuses: '5xx',
        written: [seconds(0), seconds(1)],
        before: [seconds(-15), seconds(0)],
        after: [seconds(10), seconds(20)],
        seconds: 300,
        baseline: sample,
        points: [
          [seconds(-15), 1000, 10, 980, 6, 3, 10, 1],
          [seconds(-10), 1000, 10, 980, 6, 3, 10, 1],
          [seconds(-5), 1000, 10, 980, 6, 3, 10, 1],
          [seconds(10), 1000, 10, 980, 6, 3, 10, 1],
          [seconds(15), 1000, 20, 970, 6, 3, 20, 1],
        ],
      },
    })
  })

  it('has the last verdict of several, and their number', () => {
    const last = judged(1, { statistics: buildStatistics([1], [1]) })
    const wave = find(1, written(1), unclear(1), waiting(1, 'health'), last)
    expect([wave?.checks, wave?.reason, wave?.curve?.points.length]).toEqual([2, null, 2])
  })

  it('has the figures so far of a check that runs, and what the one before it found', () => {
    const events = [written(1), unclear(1), waiting(1, 'health'), watched(1)]
    expect(find(1, ...events)).toMatchObject({
      reason:
        'Collecting statistics until 2026-11-20 12:35 UTC. The check before it found: a gust.',
      figures: '502: 1.00 % of 3,000 requests before, 0.00 % of 1,500 requests after.',
      rule: null,
    })
    expect(find(1, written(1), waiting(1, 'health'), finished)?.reason).toBe(
      'The health check has not ended: a later apply resumes it.',
    )
  })

  it('has what a wave waits for', () => {
    expect(find(2, waiting(2, 'baseline'))?.reason).toBe(
      'Collecting the baseline until 2026-11-20 12:35 UTC.',
    )
    const approval: ApplyEvent = {
      type: 'rollout.waiting-for-approval',
      time,
      apply: 'a1',
      wave: 2,
      waves: 3,
      domains: 4,
      reason: 'approval',
      command: 'edgewise rollout approve a1',
    }
    expect(find(2, written(1), approval)).toMatchObject({
      state: 'waiting',
      reason: 'It waits: "edgewise rollout approve a1".',
    })
    expect(find(2, approval, begun(2), written(2), judged(2))?.state).toBe('healthy')
  })

  it('has the waves that need attention first, also those that the plan has no more', () => {
    const events = [written(1), judged(1), written(2), judged(2), written(7), worse(7)]
    const rollout = build(...events, waiting(3, 'baseline'))
    expect(list(rollout)).toEqual(['7 worse', '3 waiting', '1 healthy', '2 healthy'])
    expect(rollout?.waves.map(({ domains, times }) => [domains, times?.writes])).toEqual([
      [null, undefined],
      ...[3, 1, 2].map(() => [1, 1]),
    ])
  })

  it('has the rollback, whose writes are those of no wave', () => {
    const back: ApplyEvent = {
      type: 'rollout.taking-back',
      time,
      apply: 'a1',
      reason: 'wave 1 of 3: 5xx rose; rolled back',
      writes: 2,
    }
    const rollout = build(written(1), worse(1), back, begun(3), written(3), finished)
    expect(rollout?.rollback).toEqual({ reason: back.reason, writes: 2 })
    expect(list(rollout)).toEqual(['1 worse', '2 not-begun', '3 not-begun'])
    expect(build(written(1), worse(1))?.rollback).toBeNull()
  })

  it('cuts long texts', () => {
    const reason = find(1, written(1), worse(1, 'x'.repeat(1_000_000)))?.reason ?? ''
    expect(reason).toMatch(/^x{3000}… \(cut, 1,000,000 characters\) …x{1000}$/)
  })

  it('has no secrets', () => {
    const rollout = build(written(1), worse(1, 'hunter2 rose'))
    expect(JSON.stringify(rollout)).not.toContain('hunter2')
    expect(rollout?.waves[0]?.health?.reason).toBe('*** rose')
  })
})

function seconds(minute: number): number {
  return Date.parse(formatMinute(minute)) / 1000
}
