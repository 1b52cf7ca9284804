import { expect, it } from 'vitest'
import type { HealthConfig } from '../../src/core/model/config.ts'
import type { Window } from '../../src/core/model/health.ts'
import { createCounts, type Counts } from '../../src/core/model/statistics.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { createComparison } from '../../src/engine/rollout/baseline-start.ts'
import type { StatusCounts } from '../../src/engine/rollout/ports.ts'

const minute = 60_000
const noon = Date.UTC(2026, 10, 20, 12)
const domains = ['a.example.com', 'b.example.com']
const rule: HealthConfig = {
  area: 'all',
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
  onLittleData: 'wait',
  onFailure: 'stop',
  after: 3600,
}
const before = { from: noon - 15 * minute, to: noon }
const after = { from: noon + 10 * minute, to: noon + 25 * minute }
const share = (window: Window) => (window.from < noon ? 1 : 20)

/** Creates a service that fails once after the points of the first domain, and keeps its calls. */
function createService(calls: string[]): StatusCounts {
  let failures = 1
  const listPoints = ({ from, to }: Window): { time: number; counts: Counts }[] =>
    Array.from({ length: (to - from) / (5 * minute) }, (_, i) => ({
      time: from + i * 5 * minute,
      counts: Object.assign(createCounts(), { 200: 900 + i, 502: share({ from, to }) * 10 }),
    }))
  return {
    count: async (asked, window, use) => {
      calls.push(`count ${asked.join()} ${(window.from - noon) / minute}`)
      const counts = new Map<string, Counts>()
      for (const domain of asked) {
        const points = listPoints(window)
        use?.(points)
        if (failures-- > 0) throw new Error('no answer')
        const sum = createCounts()
        for (const point of points)
          for (const [status, count] of Object.entries(point.counts))
            sum[status] = (sum[status] ?? 0) + count
        counts.set(domain, sum)
      }
      return counts
    },
    list: async (asked) => void calls.push(`list ${asked.join()}`),
  }
}

it('the curves of a wave have the sums of its verdict, and no calls of their own', async () => {
  const calls: string[] = []
  const zone = createTimeZone('UTC')
  const service = createService(calls)
  const now = () => noon
  const clock = { now, monotonic: now, sleep: () => Promise.resolve() }
  const store = { listEnded: async () => [] }
  const about = { clock, service, store, settings: { pauseMs: 0, rule, zone } }
  const recorded = new Map([...domains, 'c.example.com'].map((domain) => [domain, new Map()]))
  const compare = createComparison(domains, recorded, before, { now }, rule, about)
  await expect(compare(after)).rejects.toThrow('no answer')
  const health = await compare(after)
  expect(health.verdict).toBe('worse')
  for (const side of ['before', 'after'] as const) {
    const { curve } = health[side]
    expect(curve.map(({ time }) => time - health[side].window.from)).toEqual([
      0,
      5 * minute,
      10 * minute,
    ])
    const sum = { requests: 0, bad: 0 }
    for (const { requests, bad } of curve) {
      sum.requests += requests
      sum.bad += bad
    }
    expect(sum).toEqual(health.whole[side])
    expect(sum.bad).toBe(6 * 10 * share(health[side].window))
  }
  expect(calls).toEqual([
    `count ${domains.join()} -15`,
    `count ${domains.join()} -15`,
    `count ${domains.join()} 10`,
    'list a.example.com,b.example.com,c.example.com',
    'count c.example.com 10',
  ])
})
