import { expect, it } from 'vitest'
import type { PrefetchRecord } from '../../src/core/model/prefetch.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { formatPrefetch } from '../../src/outlets/report/stats/prefetch-text.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'

const style = { paint: plainPaint, zone: createTimeZone('UTC'), columns: 80, verbose: false }
const record = (id: string, url: string): PrefetchRecord => ({
  id,
  url,
  status: 'failed',
  createdAt: Date.UTC(2026, 10, 20, 12),
  completedAt: null,
})

it('a failed URL has its task and time beside it, or below it on a narrow terminal', () => {
  const short = record('1001', 'https://css.example.com/a.css')
  const long = record('1002', `https://css-static-assets.media.shop.example.com/${'a'.repeat(20)}`)
  expect(formatPrefetch({ task: '7' }, [short], style).split('\n').slice(-2)).toEqual([
    'Failed',
    '  https://css.example.com/a.css  1001, 2026-11-20 12:00:00',
  ])
  const text = formatPrefetch({ task: '7' }, [short, long], style)
  expect(text).toBe(
    [
      'Task 7: 2 URLs',
      '',
      '  waiting     0  ░░░░░░░░░░░░░░░░░░░░   0 %',
      '  processing  0  ░░░░░░░░░░░░░░░░░░░░   0 %',
      '  completed   0  ░░░░░░░░░░░░░░░░░░░░   0 %',
      '  failed      2  ████████████████████ 100 %',
      '',
      'Failed',
      '  https://css.example.com/a.css',
      '      1001, 2026-11-20 12:00:00',
      '  https://css-static-assets.media.shop.example.com/aaaaaaaaaaaaaaaaaaaa',
      '      1002, 2026-11-20 12:00:00',
    ].join('\n'),
  )
  expect(Math.max(...text.split('\n').map(measureWidth))).toBeLessThan(80)
})

it('the title breaks before its URL', () => {
  const url = `https://css-static-assets.media.shop.example.com/${'a'.repeat(20)}`
  const query = { from: '2026-11-20', to: '2026-11-21', url }
  expect(formatPrefetch(query, [], style)).toBe(
    `2026-11-20 to 2026-11-21,\n  ${url}:\n  no records`,
  )
})
