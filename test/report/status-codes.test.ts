import { describe, expect, it } from 'vitest'
import type { PagePoint } from '../../src/core/model/page/page-rollout.ts'
import { formatStatusCodes, type StatusSeries } from '../../src/outlets/report/live/status-codes.ts'

const start = Date.UTC(2026, 0, 2) / 1000
const point = (i: number, ok: number, failed: number): PagePoint => {
  const all = ok + failed
  return [start + i * 300, all, failed, ok, 0, 0, failed, 0]
}
const series = (points: PagePoint[]): StatusSeries => ({
  span: [start, start + 3600],
  seconds: 300,
  points,
})
const at = '2026-01-02T01:00:00.000Z'

describe('the status codes of a domain', () => {
  it('have their shares, the curve, and a mark at each apply within the time', () => {
    const day = series([point(0, 990, 10), point(1, 1000, 0)])
    const html = formatStatusCodes({ at, day, week: series([]) }, [
      ['before', '2026-01-01T23:59:59.000Z'],
      ['a<1>', '2026-01-02T00:06:00.000Z'],
      ['after', '2026-01-02T01:00:00.000Z'],
    ])
    expect(html).toContain('<p>2,000 requests: 2xx 99.50 % (1,990), 5xx 0.50 % (10).</p>')
    expect(html).toContain('<h3>Last week</h3><p>No requests.</p>')
    expect(html.match(/y="12">apply</g)).toHaveLength(1)
    expect(html).toContain('<path class="written" d="M100 0H102V100H100z"/>')
    expect(html).toContain('<tr><th scope=row>00:05<td>a&lt;1&gt;<td>1,000<td>0')
    expect(html).toContain('<th scope="col">Applies</th>')
    expect(html).not.toContain('<td>before')
    expect(html).not.toContain('<td>after')
  })

  it('compare the hours before and after the last apply', () => {
    const points = [point(0, 9, 1), point(1, 5, 5), point(2, 4, 0), point(13, 8, 0)]
    const apply = (minutes: number): [string, string] => [
      'a',
      new Date((start + minutes * 60) * 1000).toISOString(),
    ]
    const describeIt = (...applies: [string, string][]) =>
      formatStatusCodes({ at, day: series(points), week: series(points) }, applies)
    const html = describeIt(apply(-1), apply(7), apply(1))
    expect(html).toContain('before it: 10 requests: 2xx 90.00 % (9), 5xx 10.00 % (1).<br>')
    expect(html).toContain('as far as counted: 4 requests: 2xx 100.00 % (4).</p>')
    expect(describeIt(apply(1))).toContain('before it: No requests.<br>')
    expect(describeIt(apply(-1))).not.toContain('Last apply')
  })

  it('write the words of a mark only where there is space for them', () => {
    const applies = [0, 1, 2, 3].map((i): [string, string] => [
      `a${i}`,
      new Date((start + i * 300) * 1000).toISOString(),
    ])
    const html = formatStatusCodes({ at, day: series([point(0, 1, 0)]), week: series([]) }, applies)
    expect(html.match(/y="12">apply</g)).toHaveLength(2)
    expect(html.match(/class="written" d="([^"]+)"/)?.[1]?.match(/M/g)).toHaveLength(4)
  })

  it('say why they are not known, escaped', () => {
    expect(formatStatusCodes({ fault: 'no <token>.' }, [])).toContain(
      'They are not known: no &lt;token&gt;.',
    )
    expect(formatStatusCodes(null, [])).toContain('They are being queried')
  })
})
