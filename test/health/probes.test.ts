import { expect, it } from 'vitest'
import { isClearlyWorse, judgeWave } from '../../src/core/health/judge.ts'
import { describeProbes, type Variation } from '../../src/core/model/health.ts'
import type { Counts } from '../../src/core/model/statistics.ts'

const measure = { statuses: ['5xx'], minRequests: 500, margin: 1 }
const good = { 200: 200 }

type Both = [before: Counts, after: Counts]

/** Judges a wave by its traffic and its probes. */
function judge(
  traffic: Record<string, Both>,
  probes: Record<string, Both>,
  variation: Variation | null = null,
) {
  const side = (all: Record<string, Both>, i: 0 | 1) =>
    Object.fromEntries(Object.entries(all).map(([domain, both]) => [domain, both[i]]))
  const [before, after] = [side(probes, 0), side(probes, 1)]
  const [earlier, later] = ([0, 1] as const).map((i) => new Map(Object.entries(side(traffic, i))))
  const sent = { of: 'sha256:0', count: 200, at: '2026-11-20T12:00:00Z', before, after }
  return judgeWave(earlier ?? new Map(), later ?? new Map(), measure, variation, sent)
}

it('a domain without traffic is as its probes are', () => {
  const none: Record<string, Both> = { a: [{}, {}], b: [{}, {}] }
  const healthy = judge(none, { a: [good, good] })
  expect(healthy).toMatchObject({
    verdict: 'same-or-better',
    whole: { before: { requests: 200, bad: 0 }, after: { requests: 200, bad: 0 } },
    probes: { domains: 1, before: { requests: 200 }, after: { requests: 200 } },
  })
  expect(healthy.domains.get('b')?.verdict).toBe('too-little-data')
  const worse = judge(none, { a: [good, { 200: 150, 503: 50 }], b: [good, good] })
  expect([worse.verdict, worse.domains.get('a')?.verdict, worse.domains.get('b')?.verdict]).toEqual(
    ['worse', 'worse', 'same-or-better'],
  )
  expect(worse.probes).not.toBeNull()
  if (worse.probes !== null)
    expect(describeProbes(worse.probes)).toBe('400 probe requests before and 400 after')
})

it('probes count beside little traffic, and not beside enough', () => {
  const little = judge({ a: [{ 200: 100 }, { 200: 90 }] }, { a: [good, good] })
  expect([little.verdict, little.whole.before.requests, little.whole.after.requests]).toEqual([
    'same-or-better',
    300,
    290,
  ])
  const enough = judge({ a: [{ 200: 500 }, { 200: 500 }] }, { a: [good, { 502: 200 }] })
  expect([enough.verdict, enough.whole.after, enough.probes]).toEqual([
    'same-or-better',
    { requests: 500, bad: 0 },
    null,
  ])
})

it('traffic that fails is seen beside healthy probes', () => {
  expect(judge({ a: [{ 200: 400 }, { 502: 400 }] }, { a: [good, good] }).verdict).toBe('worse')
})

it('less traffic beside probes that always fail a little is no rise', () => {
  const failing = { 200: 160, 502: 40 }
  const health = judge({ a: [{ 200: 499 }, { 200: 5 }] }, { a: [failing, failing] })
  expect([health.verdict, health.whole.rise]).toEqual(['same-or-better', 0])
})

it('no answer is bad, whatever the statuses are', () => {
  const health = judge({ a: [{}, {}] }, { a: [good, { 0: 200 }] })
  expect([health.verdict, isClearlyWorse(health)]).toEqual(['worse', true])
})

it.each<[string, Both]>([
  ['none before', [{}, good]],
  ['none after', [good, {}]],
  ['half of them bad before', [{ 200: 100, 0: 100 }, { 0: 200 }]],
  ['no answer before and after', [{ 0: 200 }, { 0: 200 }]],
])('probes prove nothing: %s', (_, both) => {
  expect(judge({ a: [{}, {}] }, { a: both })).toMatchObject({
    verdict: 'too-little-data',
    probes: null,
  })
})

it('fewer probes than agreed may show that a domain is worse, never that it is healthy', () => {
  const few = { 200: 30 }
  expect(judge({ a: [{}, {}] }, { a: [few, few] }).verdict).toBe('too-little-data')
  expect(judge({ a: [{}, {}] }, { a: [few, { 0: 30 }] }).verdict).toBe('worse')
})

it('the variation of the traffic is not that of the probes', () => {
  const windows = Array.from({ length: 300 }, (_, i) => ({
    requests: 90,
    bad: i % 2 === 0 ? 30 : 0,
  }))
  const variation = { windows: new Map([['a', windows]]), controls: new Map() }
  const traffic: Record<string, Both> = { a: [{ 200: 90 }, { 200: 60, 502: 30 }] }
  expect(judge(traffic, { a: [good, good] }, variation).verdict).toBe('same-or-better')
  expect(judge(traffic, { a: [good, { 502: 200 }] }, variation).verdict).toBe('worse')
})

it('a wave that was not probed after it is judged by its traffic', () => {
  const sent = { of: '', count: 200, at: '', before: { a: good } }
  const health = judgeWave(new Map([['a', {}]]), new Map([['a', {}]]), measure, null, sent)
  expect([health.verdict, health.probes]).toEqual(['too-little-data', null])
})
