import { expect, it } from 'vitest'
import { findFault } from '../../src/server/controller.ts'

const minute = 60_000
const working = { what: 'rollout r1', since: '2026-01-02T03:04:05Z' }
const vitals = {
  nowMs: 5 * minute,
  position: { tickMs: minute, awayMs: null },
  found: { working: null, unattended: [] },
  isHung: false,
}
const late = { working: null, unattended: ['r1'] }

it.each([
  [{}, null],
  [{ nowMs: 6 * minute }, 'the election of the leader has stopped'],
  [{ found: late }, 'nothing works on a rollout that is due'],
  [{ found: { ...late, working } }, null],
  [{ found: late, position: { tickMs: minute, awayMs: 0 } }, null],
  [{ found: { ...late, working }, isHung: true }, 'the work of the leader makes no progress'],
])('finds what is wrong with a process: %o', (changed, expected) => {
  expect(findFault({ ...vitals, ...changed })).toBe(expected)
})
