import { describe, expect, it } from 'vitest'
import { buildStatistics } from '../health/statistics.ts'
import type { Clock } from '../../src/core/model/time/clock.ts'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { LoadedWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { createDriftMemory, createEventMemory } from '../../src/server/pages/memory.ts'
import { createShared } from '../../src/server/pages/create-page-source.ts'

describe('what is loaded for several readers', () => {
  const stage = () => {
    const world = { nowMs: 0, loads: 0, end: [] as ((fails: boolean) => void)[] }
    const shared = createShared({ monotonic: () => world.nowMs }, () => {
      const load = ++world.loads
      return new Promise<number>((resolve, reject) => {
        world.end.push((fails) => (fails ? reject(new Error('no')) : resolve(load)))
      })
    })
    return { world, shared }
  }

  it('is loaded once, however many ask for it at the same time, and for a while', async () => {
    const { world, shared } = stage()
    const readers = [shared.get(1000, 'a'), shared.get(1000, 'a'), shared.get(1000, 'b')]
    world.end[0]?.(false)
    expect(await Promise.all(readers)).toEqual([1, 1, 1])
    world.nowMs = 999
    expect([await shared.get(1000, 'a'), world.loads]).toEqual([1, 1])
    world.nowMs = 1000
    const later = shared.get(1000, 'a')
    world.end[1]?.(false)
    expect(await later).toBe(2)
  })

  it('is loaded anew for another key, after a failure, and after a change', async () => {
    const { world, shared } = stage()
    const first = shared.get(1000, 'a')
    world.end[0]?.(true)
    await expect(first).rejects.toThrow('no')
    const again = shared.get(1000, 'a')
    world.end[1]?.(false)
    expect(await again).toBe(2)
    const other = shared.get(1000, 'b')
    world.end[2]?.(false)
    expect(await other).toBe(3)
    const stale = shared.get(1000, 'a')
    shared.forget()
    const fresh = shared.get(1000, 'a')
    world.end[4]?.(false)
    world.end[3]?.(false)
    expect(await Promise.all([stale, fresh])).toEqual([4, 5])
    expect(await shared.get(1000, 'a')).toBe(5)
  })
})

describe('the events of waves', () => {
  const judge = (wave: number): ApplyEvent => ({
    type: 'wave.judged',
    time: '2026-01-02T03:04:05Z',
    wave,
    verdict: 'worse',
    reason: 'more errors',
    before: { requests: 1, bad: 0 },
    after: { requests: 1, bad: 1 },
    worse: Array.from({ length: 80 }, (_, i) => ({
      domain: `d${i}.example.com`,
      before: { requests: 1, bad: 0 },
      after: { requests: 1, bad: 1 },
    })),
    statistics: buildStatistics(),
  })
  const start = (apply: string): ApplyEvent => ({
    type: 'apply.started',
    time: '2026-01-02T03:04:05Z',
    apply,
    writes: 1,
    releases: 0,
  })

  it('are kept by rollout, up to a number', () => {
    const memory = createEventMemory()
    const run = (apply: string, events: ApplyEvent[]) => {
      for (const event of [start(apply), ...events]) memory.listen(event, null)
    }
    run('a1', [judge(1), { type: 'wave.finished', time: '', wave: 1 }])
    run('a2', [judge(2)])
    run('a1', [judge(2)])
    expect(memory.list('a1')).toMatchObject([{ wave: 1 }, { wave: 2 }])
    expect(memory.list('a3')).toEqual([])
    expect(memory.list('a1')[0]).toHaveProperty('worse.length', 50)
    run(
      'a1',
      Array.from({ length: 400 }, (_, i) => judge(i)),
    )
    expect(memory.list('a1')).toHaveLength(300)
    for (let i = 0; i < 49; i++) run(`b${i}`, [judge(1)])
    expect([memory.list('a1').length, memory.list('a2').length]).toEqual([300, 0])
  })
})

it('the page of the last drift check is kept', async () => {
  const drifts = createDriftMemory({ clock: { now: () => Date.UTC(2026, 0, 2) } as Clock })
  expect(drifts.getLast()).toBe(null)
  const workspace = {
    config: { id: 'shop', service: { writtenUrl: 'http://cdn' }, limits: { callsPerMinute: 30 } },
    diagnostics: [],
    findItemPlace: () => null,
    findTree: async () => ({ commit: 'c0ffee' }),
    redact: (text: string) => text.replaceAll('s3cret', '***'),
  } as unknown as LoadedWorkspace
  const drift = { items: [], pending: [], live: [], inDoubt: [] }
  const found = { drift, observed: new Map(), notes: ['the s3cret'], unmanaged: [] }
  await drifts.keep(workspace, found)
  expect(drifts.getLast()).toMatchObject({
    at: '2026-01-02T00:00:00.000Z',
    commit: 'c0ffee',
  })
  const html = drifts.getLast()?.format('<nav></nav>')
  expect(html).toMatch(/<nav><\/nav><main [\s\S]*<h1[^>]*>No item is managed or recorded.<\/h1>/)
  expect(html).toContain('the ***')
})
