import { expect, it } from 'vitest'
import type { Applied } from '../../src/core/model/applied.ts'
import { formatHistory } from '../../src/outlets/report/apply/history-text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'

const none = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
const entry: Applied = {
  id: 'k7',
  startedAt: '2026-11-20T03:00:00.000Z',
  endedAt: '2026-11-20T03:01:30.400Z',
  commit: '0123456789abcdef',
  author: 'ops@example.com',
  writes: { ...none, confirmed: 4 },
  outcome: 'complete',
}
const text = (more: Partial<Applied> = {}) => formatHistory([{ ...entry, ...more }], plainPaint)

it('shows outcome, time, duration, author and commit of an apply', () => {
  expect(text()).toBe(
    'k7  complete  4 confirmed\n' +
      '  2026-11-20T03:00:00Z · 1 min 30 s · by ops@example.com · commit 0123456789ab\n',
  )
})

it('names only the outcomes that occurred', () => {
  const output = text({
    writes: { confirmed: 1, refused: 2, inDoubt: 3, notSent: 4 },
    outcome: 'interrupted',
  })
  expect(output).toContain('k7  interrupted  1 confirmed, 2 refused, 3 in-doubt, 4 not sent\n')
  expect(text({ writes: { ...none, notSent: 1 } })).toContain('k7  complete  1 not sent\n')
  expect(text({ writes: none })).toContain('k7  complete  no write\n')
})

it('shows the items of domains if something was not confirmed and their counts differ', () => {
  const parts = { ...none, confirmed: 2, refused: 1 }
  expect(text({ writes: { ...none, refused: 1 }, parts, outcome: 'incomplete' })).toContain(
    'k7  refused  1 refused (items of domains: 2 confirmed, 1 refused)\n',
  )
  expect(text({ parts: { ...none, confirmed: 9 } })).toContain('k7  complete  4 confirmed\n')
  const same = { ...none, refused: 1 }
  expect(text({ writes: same, parts: same })).toContain('k7  complete  1 refused\n')
})

it('shows what a killed apply left in-doubt, and how many writes it never began', () => {
  const writes = { ...none, inDoubt: 8, notSent: 996 }
  expect(text({ writes, endedAt: null, outcome: 'unfinished' })).toContain(
    'k7  unfinished  8 in-doubt, 996 never begun\n',
  )
})

it('omits unknown fields', () => {
  expect(text({ author: null, commit: null })).toContain('\n  2026-11-20T03:00:00Z · 1 min 30 s\n')
})

it('distinguishes an apply that may still run from one without a recorded end', () => {
  const writes = { ...none, inDoubt: 3, notSent: 1 }
  expect(text({ endedAt: null, outcome: 'unfinished' })).toContain('03:00:00Z · not finished · by')
  const lost = text({ endedAt: null, outcome: 'interrupted', writes })
  expect(lost).toContain('k7  interrupted  3 in-doubt, 1 never begun\n')
  expect(lost).toContain('03:00:00Z · its process ended without recording its end · by')
})

it('shows no negative duration after the clock was set back', () => {
  expect(text({ endedAt: '2026-11-20T02:59:00.000Z' })).toContain(' · 0 s · ')
})

it('escapes control characters of an author and a commit', () => {
  const output = text({ author: 'a\u001b[31mb', commit: '\u0007123' })
  for (const control of ['\u001b', '\u0007']) expect(output).not.toContain(control)
})

it('keeps the order of the applies, and has a text for none', () => {
  expect(formatHistory([entry, { ...entry, id: 'k8' }], plainPaint).match(/^k\d/gm)).toEqual([
    'k7',
    'k8',
  ])
  expect(formatHistory([], plainPaint)).toBe('There are no applies yet.\n')
})
