import { describe, expect, it } from 'vitest'
import {
  addPoints,
  classifyStatus,
  createTally,
  type Tally,
} from '../../src/core/model/statistics.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import {
  formatPercent,
  formatCount,
  drawSparkline,
} from '../../src/outlets/report/stats/figures.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { sparkSteps, formatStats, type Statistics } from '../../src/outlets/report/stats/text.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'

const span = { from: Date.UTC(2026, 10, 20), to: Date.UTC(2026, 10, 20, 10) }

/** Creates a tally of a domain: requests per hour, and failures per hour from the sixth hour on. */
function tally(domain: string | null, requests: number, failing = 0): Tally {
  const made = createTally(domain, sparkSteps)
  const points = Array.from({ length: 10 }, (_, i) => {
    const failed = i < 5 ? 0 : failing
    return {
      time: span.from + i * 3_600_000,
      counts: { '200': requests - failed, ...(failed > 0 ? { '502': failed } : {}) },
    }
  })
  if (requests > 0) addPoints(made, points, span, false)
  return made
}

function text(
  tallies: Tally[],
  more: Partial<Statistics> = {},
  options = { columns: 80, verbose: false },
): string {
  const zone = createTimeZone('Asia/Shanghai')
  return formatStats(
    { ...span, grain: 'hour', zone, sum: null, area: 'all', labels: 'start', tallies, ...more },
    { paint: plainPaint, ...options },
  )
}

describe('figures', () => {
  it.each([
    [0, '0'],
    [9999, '9999'],
    [10_000, '10.0k'],
    [999_499, '999k'],
    [999_500, '1.00M'],
    [1_234_567, '1.23M'],
    [Number.MAX_SAFE_INTEGER, '9.01P'],
  ])('%i is %s', (count, expected) => expect(formatCount(count)).toBe(expected))

  it.each([
    [0, '0.00'],
    [0.000_001, '<0.01'],
    [0.000_05, '0.01'],
    [0.1234, '12.34'],
    [1, '100.00'],
  ])('a share of %f is %s percent', (share, expected) =>
    expect(formatPercent(share)).toBe(expected),
  )

  it('a sparkline runs from zero to its top, with dots for missing values', () => {
    expect(drawSparkline([0, 0.5, 1, 2, null], 1)).toBe('▁▅██·')
  })

  it.each([
    ['0', 'other'],
    ['99', 'other'],
    ['100', 'other'],
    ['200', '2xx'],
    ['599', '5xx'],
    ['600', 'other'],
    ['5', 'other'],
  ])('status %s is %s', (status, expected) => expect(classifyStatus(status)).toBe(expected))
})

describe('formatStats', () => {
  it('prints one line per domain, worst first, and a total', () => {
    expect(
      text([
        tally('a.example.com', 1000),
        tally('b.example.com', 2000, 100),
        tally('c.example.com', 0),
      ]),
    ).toBe(
      [
        '2026-11-20 08:00 to 2026-11-20 18:00 (Asia/Shanghai), by hour',
        '',
        'domain          all   2xx   3xx   4xx   5xx other  4xx %  5xx % over time',
        'b.example.com 20.0k 19.5k     0     0   500     0   0.00   2.50 ▁▁▁▁▁█████',
        'a.example.com 10.0k 10.0k     0     0     0     0   0.00   0.00 ▁▁▁▁▁▁▁▁▁▁',
        'c.example.com  no data',
        '3 domains     30.0k 29.5k     0     0   500     0   0.00   1.67 ▁▁▁▁▁▆▆▆▆▆',
        '',
        'A full bar is 5.00 % of 5xx.',
      ].join('\n'),
    )
  })

  it('prints a long name on its own line, within the columns', () => {
    const long = `${'images.'.repeat(8)}example.com`
    const lines = text([tally(long, 1000), tally('a.example.com', 10_000_000)]).split('\n')
    expect(lines).toContain(long)
    expect(Math.max(...lines.map(measureWidth))).toBeLessThanOrEqual(80)
  })

  it('keeps the columns under names of 40 characters on 80 columns', () => {
    const name = (first: string) => `${first}-static-assets.media.shop.example.com`
    expect(text([tally(name('css'), 1000), tally(name('img'), 123_456, 1234)])).toBe(
      [
        '2026-11-20 08:00 to 2026-11-20 18:00 (Asia/Shanghai), by hour',
        '',
        '   all   2xx   3xx   4xx   5xx other  4xx %  5xx % over time',
        'img-static-assets.media.shop.example.com',
        ' 1.23M 1.23M     0     0  6170     0   0.00   0.50 ▁▁▁▁▁█████',
        'css-static-assets.media.shop.example.com',
        ' 10.0k 10.0k     0     0     0     0   0.00   0.00 ▁▁▁▁▁▁▁▁▁▁',
        '2 domains',
        ' 1.24M 1.24M     0     0  6170     0   0.00   0.50 ▁▁▁▁▁█████',
        '',
        'A full bar is 1.00 % of 5xx.',
      ].join('\n'),
    )
  })

  it('prints a sum on one line', () => {
    const sum = text([tally(null, 1000)], { sum: ['a.example.com', 'b.example.com'] })
    expect(sum).toMatch(/^2 domains 10\.0k/m)
    expect(sum.match(/domains/g)).toHaveLength(1)
  })

  it('prints the forty worst domains, or all with verbose', () => {
    const tallies = Array.from({ length: 100 }, (_, i) => tally(`d${i}.example.com`, 1000, i))
    expect(text(tallies)).toContain('… and 60 more; --verbose shows all')
    expect(text(tallies, {}, { columns: 80, verbose: true })).toContain('d0.example.com')
    expect(text(tallies)).toMatch(/^100 domains/m)
  })
})
