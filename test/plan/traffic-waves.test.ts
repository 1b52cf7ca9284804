import { describe, expect, it } from 'vitest'
import { createDetector, emptySum } from '../../src/core/health/detectable.ts'
import { createWaveTraffic, warnOfTraffic } from '../../src/core/plan/foresee-waves.ts'
import { arrangeByTraffic } from '../../src/core/plan/traffic-waves.ts'
import type { HealthConfig } from '../../src/core/model/config.ts'
import type { DomainTraffic } from '../../src/core/model/traffic.ts'
import { Draws } from '../health/draws.ts'
import { itLong } from '../runs.ts'

const rule = { window: 900, grain: 'minute5' as const, minRequests: 100, margin: 0.5 }
const defaults: HealthConfig = {
  ...rule,
  area: 'all',
  settle: 300,
  lag: 600,
  statuses: ['5xx'],
  onLittleData: 'wait',
  onFailure: 'stop',
  after: 3600,
}
const amounts = [{ percent: 5 }, { percent: 25 }, { percent: 100 }]
const rise = 1

function drawFleet(seed: number) {
  const draws = new Draws(seed)
  const domains = Array.from({ length: 30 }, (_, i) => `d${i}.example.com`)
  const figures = new Map<string, DomainTraffic>()
  for (const domain of domains.slice(0, 26)) {
    const requests = Math.floor(10 ** (3 + 4 * draws.next()))
    figures.set(domain, { requests, bad: Math.floor(requests * 0.002 * draws.next()), at: 0 })
  }
  return { domains, figures, detector: createDetector(figures.values(), rule) }
}

type Fleet = ReturnType<typeof drawFleet>

function arrange({ domains, figures, detector }: Fleet, first: string[] = []) {
  const arranged = arrangeByTraffic(domains, first, amounts, new Map(), { figures, detector, rise })
  const count = (list: string[]) =>
    list.reduce((sum, domain) => sum + (figures.get(domain)?.requests ?? 0), 0)
  return { ...arranged, count, first: arranged.order.slice(0, arranged.ends[0]) }
}

const fleets = Array.from({ length: 20 }, (_, i) => drawFleet(i + 1))

describe('waves by traffic', () => {
  itLong('have each domain exactly once, those without figures in the last wave', () => {
    for (const fleet of fleets) {
      const { order, ends } = arrange(fleet)
      expect(order.toSorted()).toEqual(fleet.domains.toSorted())
      expect(ends).toEqual(ends.toSorted((a, b) => a - b))
      expect(ends.at(-1)).toBe(fleet.domains.length)
      const early = order.slice(0, ends.at(-2))
      expect(early.filter((domain) => !fleet.figures.has(domain))).toEqual([])
    }
  })

  itLong('keep to their share of the requests after the first wave, and fill it', () => {
    for (const fleet of fleets) {
      const { order, ends, limits, count, first } = arrange(fleet)
      expect(limits[1]).toBeCloseTo(count(fleet.domains) / 4)
      const second = count(order.slice(0, ends[1]))
      expect(second).toBeLessThanOrEqual(Math.max(limits[1] ?? 0, count(first)))
      expect(count(order.slice(0, (ends[1] ?? 0) + 1))).toBeGreaterThan(limits[1] ?? 0)
    }
  })

  it('begin with the fewest requests of one to three neighbors that detect the rise', () => {
    let found = 0
    for (const fleet of fleets) {
      const { detector, figures } = fleet
      const { first, count } = arrange(fleet)
      const own = first.flatMap((domain) => figures.get(domain) ?? [])
      if (!detector.detects(own.reduce(detector.add, emptySum), rise)) continue
      found++
      const known = [...figures.values()].toSorted((a, b) => a.requests - b.requests)
      for (const size of [1, 2, 3])
        for (let from = 0; from + size <= known.length; from++) {
          const sum = known.slice(from, from + size).reduce(detector.add, emptySum)
          if (detector.detects(sum, rise)) expect(sum.requests).toBeGreaterThanOrEqual(count(first))
        }
    }
    expect(found).toBeGreaterThan(0)
  })

  it('begin with the domains that go first, with or without figures', () => {
    for (const fleet of fleets)
      expect(arrange(fleet, ['d3.example.com', 'd28.example.com']).first.slice(0, 2)).toEqual([
        'd3.example.com',
        'd28.example.com',
      ])
  })
})

it('a wave is foreseen if its figures count all statuses of the health check', () => {
  const foresees = (statuses: string[], counted?: string[]) => {
    const own = counted === undefined ? {} : { statuses: counted }
    const domains = new Map([['a.example.com', { requests: 1e6, bad: 100, at: 0, ...own }]])
    const health = { ...defaults, statuses }
    const profile = { domains, account: null, at: 0 }
    return createWaveTraffic(['a.example.com'], profile, { pause: 0, health }).detector !== null
  }
  expect(foresees(['5xx', '0', '502'])).toBe(true)
  expect(foresees(['5xx', '404'])).toBe(false)
  expect(foresees(['5xx', '404'], ['404'])).toBe(true)
  expect(foresees(['4xx'], ['404'])).toBe(false)
})

describe('the foresight of a health check', () => {
  const foresee = (requests: number, bad: number) => {
    const detector = createDetector([], rule)
    return detector.foresee(detector.add(emptySum, { requests, bad, at: 0 }))
  }

  it('needs no greater rise with more requests of the same share', () => {
    const rises = [1e5, 1e6, 1e7, 1e8].map((n) => foresee(n, n / 1000).detects?.rise ?? Infinity)
    expect(rises).toEqual(rises.toSorted((a, b) => b - a))
    expect(rises.at(-1)).toBeLessThan(rises[0] ?? 0)
    expect(rises.at(-1)).toBeGreaterThanOrEqual(1.5 * rule.margin)
  })

  it('says why it detects nothing', () => {
    expect(foresee(1000, 1)).toEqual({ undetected: 'few-requests' })
    expect(foresee(1e8, 9e7)).toEqual({ undetected: 'many-errors' })
  })
})

describe('the warning of a wave that detects nothing', () => {
  const waves = [
    {
      wave: 1,
      domains: 1,
      writes: 1,
      kinds: [],
      traffic: { requests: 10, unknown: 0, undetected: 'few-requests' as const },
    },
  ]
  const traffic = { figures: new Map(), health: null }
  const text = 'the health check of wave 1 detects no rise of errors: too few requests'

  it('names the waves that detect nothing', () => {
    expect(warnOfTraffic(waves, traffic, null)).toEqual([text])
  })

  it.each([
    ['wait', 'waits for more, up to 3 h, and then stops'],
    ['pass', 'goes on after the pause'],
    ['stop', 'stops there'],
  ] as const)('says what happens to waves with too little data: %s', (onLittleData, effect) => {
    const health = { ...defaults, onLittleData }
    expect(warnOfTraffic(waves, { ...traffic, health }, null)).toEqual([
      text,
      '1 domain of wave 1 has too few requests for the health check, fewer than 100 in 15 min: ' +
        `"onLittleData: ${onLittleData}" ${effect}`,
    ])
    const busy = waves.map((wave) => ({ ...wave, traffic: { requests: 1e6, unknown: 0 } }))
    expect(warnOfTraffic(busy, { ...traffic, health }, null)).toEqual([])
  })
})
