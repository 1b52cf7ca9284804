import { expect, it } from 'vitest'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import { formatEnd } from '../../src/core/model/text/words.ts'
import {
  advanceActivity,
  createActivity,
  formatActivity,
} from '../../src/outlets/report/apply/activity.ts'

const time = '2026-03-01T00:00:00.000Z'
const now = Date.parse(time)
const about = (id: number) => ({ time, id, domains: ['www.example.com'], items: ['https'] })
const started = (id: number): ApplyEvent => ({ type: 'write.started', ...about(id) })
const waiting: ApplyEvent = {
  type: 'write.waiting',
  time,
  id: 3,
  seconds: 20,
  message: 'the call budget is used up',
}

function formatAfter(writes: number, ...events: ApplyEvent[]): string {
  const activity = events.reduce(
    (state, event) => advanceActivity(state, event, now),
    createActivity(writes),
  )
  return formatActivity(activity, now, { callsLeft: 4, callsPerMinute: 4 })
}

it('the live line of an apply shows what it does', () => {
  let activity = createActivity(12)
  const shown = (atMs = now) => formatActivity(activity, atMs, { callsLeft: 4, callsPerMinute: 4 })
  const report = (...events: ApplyEvent[]) => {
    for (const event of events) activity = advanceActivity(activity, event, now)
    return shown()
  }
  const bar = '░░░░░░░░░░ 0/12 writes · about 2 min left · '
  expect(shown()).toBe(`${bar}recording`)
  expect(report(started(1))).toBe(`${bar}sending write 1: https on www.example.com`)
  expect(report(started(2), started(3))).toBe(`${bar}sending writes 1, 2, 3`)
  expect(report(waiting)).toBe(
    `${bar}waiting until ${formatEnd(now, 20_000)}: the call budget is used up`,
  )
  expect(shown(now + 20_000)).toBe(`${bar}sending writes 1, 2, 3`)
  expect(
    report(
      { type: 'write.confirmed', time, id: 1 },
      { type: 'write.confirmed', time, id: 2 },
      { type: 'write.refused', time, id: 3, code: 7, message: 'no' },
      { type: 'write.isolating', ...about(3) },
    ),
  ).toContain('3/12 writes')
  expect(shown(now + 20_000)).toBe('██░░░░░░░░ 3/12 writes · about 2 min left · bisecting write 3')
  for (let id = 4; id <= 12; id++) report(started(id), { type: 'write.confirmed', time, id })
  expect(shown(now + 20_000)).toBe('██████████ 12/12 writes · recording')
})

it('the live line of an apply counts no write that was not sent', () => {
  const message = 'gone'
  expect(
    formatAfter(
      3,
      started(1),
      { type: 'write.not-sent', time, id: 1, message },
      { type: 'write.not-sent', time, id: 2, message, reason: 'unchanged' },
    ),
  ).toBe('███░░░░░░░ 1/3 writes · recording')
})

it('the live line of an apply shows the wait of a wave, then its writes', () => {
  const about1 = { time, wave: 1, waves: 2, domains: 1, until: '2026-03-01T00:01:00.000Z' }
  const wait: ApplyEvent = { type: 'wave.waiting', ...about1, reason: 'health' }
  expect(formatAfter(2, wait)).toMatch(
    /^wave 1\/2 · health until \d\d:01:00 \(1:00 left\) · 1 domain$/,
  )
  const [before, after] = [
    { requests: 100, bad: 1 },
    { requests: 100, bad: 2 },
  ]
  const watched: ApplyEvent = {
    type: 'wave.watched',
    time,
    wave: 1,
    statuses: ['5xx'],
    before,
    after,
  }
  expect(formatAfter(2, wait, watched)).toContain(' · 5xx 1.00 % → 2.00 % of 100')
  expect(formatAfter(2, wait, watched, started(2))).toContain('sending write 2')
})
