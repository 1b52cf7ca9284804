import { readFileSync } from 'node:fs'
import parse from 'parse-prometheus-text-format'
import { beforeEach, describe, expect, it } from 'vitest'
import { states } from '../../src/outlets/metrics/apply-metrics.ts'
import {
  createServerMetrics,
  type ServerMetrics,
} from '../../src/outlets/metrics/server-metrics.ts'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { Verdict } from '../../src/core/model/health.ts'
import { readOpenMetrics } from './read-open-metrics.ts'
import { recordAll } from './record-all.ts'
import { buildStatistics } from '../health/statistics.ts'
import { itLong } from '../runs.ts'

let metrics: ServerMetrics
beforeEach(() => {
  metrics = createServerMetrics({ workspace: 'shop', account: 'main' })
  metrics.addProcess()
})

const time = '2026-01-02T03:04:05Z'
const sample = { requests: 100, bad: 1 }
const judge = (wave: number, verdict: Verdict): ApplyEvent => ({
  type: 'wave.judged',
  time,
  wave,
  verdict,
  reason: null,
  before: sample,
  after: sample,
  worse: [],
  statistics: buildStatistics(),
})

/** Reads the samples of a metric by the values of its own labels. */
async function read(name: string): Promise<Record<string, number>> {
  const { text } = await metrics.format('prometheus')
  const family = (parse(text) ?? []).find((each) => each.name === `edgewise_${name}`)
  const samples = (family?.metrics ?? []).map(({ labels, value }): [string, number] => {
    const { workspace, account, ...own } = labels ?? {}
    expect([workspace, account]).toEqual(['shop', 'main'])
    return [Object.values(own).join(), Number(value)]
  })
  return Object.fromEntries(samples)
}

describe('a verdict', () => {
  it('counts once for each rollout, wave and verdict', async () => {
    for (const rollout of ['r1', 'r1', 'r2'])
      for (const wave of [1, 2, 1]) metrics.recordEvent(judge(wave, 'same-or-better'), rollout)
    metrics.recordEvent(judge(1, 'worse'), 'r1')
    metrics.recordEvent(judge(1, 'worse'), 'r1')
    expect(await read('wave_verdicts_total')).toEqual({ 'same-or-better': 4, worse: 1 })
  })

  it('belongs to the apply that started last, without a rollout', async () => {
    for (const apply of ['a1', 'a2']) {
      metrics.recordEvent({ type: 'apply.started', time, apply, writes: 1, releases: 0 })
      metrics.recordEvent(judge(1, 'worse'))
      metrics.recordEvent(judge(1, 'worse'))
    }
    expect(await read('wave_verdicts_total')).toEqual({ worse: 2 })
  })

  itLong('is remembered among the last thousand', async () => {
    const count = async () => (await read('wave_verdicts_total'))['worse']
    for (let wave = 1; wave <= 1500; wave++) metrics.recordEvent(judge(wave, 'worse'), 'r1')
    expect(await count()).toBe(1500)
    for (let wave = 501; wave <= 1500; wave++) metrics.recordEvent(judge(wave, 'worse'), 'r1')
    expect(await count()).toBe(1500)
    metrics.recordEvent(judge(500, 'worse'), 'r1')
    expect(await count()).toBe(1501)
  })
})

describe('the metrics', () => {
  it('count drift by kind and confidence, and forget the drift before', async () => {
    const about = { domain: 'www.example.com', item: 'timeout', recordedAt: null, held: false }
    const empty = { ...about, pending: [], live: [], notVerifiable: [] }
    metrics.setDrift({
      items: [
        { ...empty, kinds: ['pending'], confidence: 'assumed' },
        { ...empty, kinds: ['pending', 'live'], confidence: 'verified' },
        { ...empty, kinds: ['live'], confidence: 'verified' },
        { ...empty, kinds: [], confidence: 'in-doubt' },
      ],
    })
    expect(await read('drift_items')).toEqual({
      'pending,assumed': 1,
      'pending,verified': 1,
      'live,verified': 2,
    })
    metrics.setDrift({ items: [{ ...empty, kinds: ['live'], confidence: 'in-doubt' }] })
    expect(await read('drift_items')).toEqual({ 'live,in-doubt': 1 })
  })

  it('count outcomes, errors, webhooks, rollouts and the branch', async () => {
    recordAll(metrics)
    recordAll(metrics)
    expect(await read('writes_total')).toEqual({
      confirmed: 2,
      refused: 4,
      'in-doubt': 6,
      'not-sent': 8,
    })
    expect(await read('parts_total')).toMatchObject({ confirmed: 10, 'not-sent': 16 })
    expect(await read('errors_total')).toEqual({ locked: 2, defect: 2 })
    expect(await read('webhooks_total')).toEqual({ accepted: 2, refused: 0 })
    expect(await read('rollouts')).toEqual({ paused: 1 })
    expect(await read('branch_info')).toEqual({ abc: 1 })
    metrics.setBranch({ commit: 'def', appliedAt: null, inSync: false })
    expect(await read('branch_info')).toEqual({ def: 1 })
    expect(await read('branch_fetch_time_seconds')).toEqual({ '': 1000 })
    expect(await read('branch_in_sync')).toEqual({ '': 0 })
    expect(await read('plan_changes')).toEqual({ set: 1, change: 0, unset: 0, release: 0 })
    expect(await read('items')).toEqual({ confirmed: 1, 'in-doubt': 1, unset: 0 })
    expect(await read('confirmation_age_oldest_seconds')).toEqual({ '': 60 })
  })

  it('of two servers are apart', async () => {
    recordAll(createServerMetrics({ workspace: 'other', account: 'main' }))
    expect(await read('errors_total')).toEqual({})
  })
})

it('a value that is not known is absent, where 0 would be wrong', async () => {
  const list = async () => {
    const { text } = await metrics.format('openmetrics')
    const families = [...readOpenMetrics(text)].filter(([name]) => name.startsWith('edgewise_'))
    return families.filter(([, { samples }]) => samples > 0).map(([name]) => name)
  }
  expect(await list()).toEqual(
    [
      'invalid_commits',
      'webhooks',
      'lock_wait_seconds',
      'confirmation_age_seconds',
      'rollouts_taken_up',
      'leader',
      'branch_in_sync',
    ].map((name) => `edgewise_${name}`),
  )
  metrics.setLeader(7)
  metrics.setUnattended(1)
  metrics.setLeader(null)
  expect(await list()).not.toContain('edgewise_leader_term')
  expect(await list()).not.toContain('edgewise_rollouts_unattended')
  metrics.setConfirmations(new Map(), 0)
  expect(await list()).not.toContain('edgewise_confirmation_age_oldest_seconds')
  recordAll(metrics)
  metrics.setConfirmations(new Map(), 0)
  expect(await list()).not.toContain('edgewise_confirmation_age_oldest_seconds')
})

describe('the formats', () => {
  it('have the same samples, also when they alternate', async () => {
    recordAll(metrics)
    for (let i = 0; i < 2; i++) {
      const plain = (await metrics.format('prometheus')).text
      const open = (await metrics.format('openmetrics')).text
      const own = (text: string) => text.split('\n').filter((line) => line.startsWith('edgewise_'))
      expect(own(open)).toEqual(own(plain))
      expect(own(plain).length).toBeGreaterThan(40)
      expect(plain).toContain('# TYPE edgewise_writes_total counter')
      expect(parse(plain)?.length).toBe(readOpenMetrics(open).size)
    }
  })

  it('OpenMetrics is strictly formed', async () => {
    const hostile = createServerMetrics({ workspace: 'a"b\\c\nd', account: '# EOF' })
    hostile.addProcess()
    recordAll(hostile)
    const { type, text } = await hostile.format('openmetrics')
    expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    const families = readOpenMetrics(text)
    expect(families.get('edgewise_writes')).toMatchObject({ type: 'counter' })
    expect(families.get('edgewise_run_duration_seconds')).toMatchObject({ type: 'histogram' })
    expect(families.get('process_cpu_seconds')).toMatchObject({ type: 'counter' })
    expect(families.get('edgewise_errors')?.labels).toEqual(['account', 'code', 'workspace'])
  })
})

it('the guide has the name, type and labels of each metric', async () => {
  recordAll(metrics)
  const families = readOpenMetrics((await metrics.format('openmetrics')).text)
  const common = ['account', 'workspace', 'le']
  const expected = [...families]
    .filter(([name]) => name.startsWith('edgewise_'))
    .map(([name, { type, labels, samples }]) => {
      expect([name, samples]).not.toEqual([name, 0])
      const own = labels.filter((label) => !common.includes(label))
      return `${name}${type === 'counter' ? '_total' : ''} ${type} ${own.join()}`
    })
  const page = readFileSync(new URL('../../docs/guides/observe.md', import.meta.url), 'utf8')
  const rows = page.matchAll(/^\| `(edgewise_\w+)` \| (\w+) \|([^|]*)\| .+ \|$/gm)
  const shown = Array.from(rows, ([, name, type, labels = '']) => {
    const own = Array.from(labels.matchAll(/`(\w+)`/g), ([, label = '']) => label)
    return `${name} ${type} ${own.toSorted().join()}`
  })
  expect(shown.toSorted()).toEqual(expected.toSorted())
})

it('the guide names each state of an apply', () => {
  const guide = readFileSync(new URL('../../docs/guides/observe.md', import.meta.url), 'utf8')
  const [, text = ''] = /\nThe states are ([^.]+)\./.exec(guide) ?? []
  const named = Array.from(text.matchAll(/`(\w+)`/g), ([, name = '']) => name)
  expect(named.toSorted()).toEqual(states.toSorted())
})
