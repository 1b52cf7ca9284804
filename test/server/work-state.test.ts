import { describe, expect, it } from 'vitest'
import type { Committed } from '../../src/server/branch/workspaces.ts'
import { dueAt, type Agenda, type Task } from '../../src/server/leader/agenda.ts'
import {
  beginWork,
  decideNext,
  endApply,
  endDrift,
  endStep,
  findUnattended,
  setProblem,
  takeRollouts,
  takeTip,
  type WorkState,
} from '../../src/server/leader/work-state.ts'
import { listed } from './http-stage.ts'

const [minute, hour, nowMs] = [60_000, 3_600_000, 1000]
const at = '2026-01-02T03:04:05Z'
const [tip, other] = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string]
const applied = { commit: tip, at, status: 'done', message: null }
const first = beginWork({ commit: tip } as unknown as Committed)
/** A leader that has applied the tip, and has nothing to do. */
const idle: WorkState = { ...first, found: { ...first.found, commit: tip, applied } }
const running = { ...listed, state: 'pausing' as const }

function due(...tasks: [Task, number][]): Agenda {
  return new Map(tasks.map(([task, ms]) => [task, dueAt(ms)]))
}

/** Lists what is due, and when, ms. */
function list({ agenda }: WorkState): Record<string, number> {
  return Object.fromEntries([...agenda].map(([task, { atMs }]) => [task, atMs]))
}

it.each([
  ['sleeps for an hour at most', due(), { kind: 'sleep', ms: hour }],
  ['sleeps until the next work', due(['drift', 3000]), { kind: 'sleep', ms: 2000 }],
  ['looks before it applies', due(['apply', 0], ['look', 0]), { kind: 'work', task: 'look' }],
  [
    'does first what was due first',
    due(['apply', 0], ['look', 1]),
    { kind: 'work', task: 'apply' },
  ],
])('a leader %s', (_what, agenda, expected) => {
  expect(decideNext({ agenda, isStopped: false }, nowMs)).toEqual(expected)
})

describe('after an apply', () => {
  const end = { commit: tip, isNew: false, status: 'done', isAway: false }
  const failed = { ...end, status: 'failed' }
  it.each([
    ['that is over, the rollouts are looked at', end, {}],
    ['that waits, the rest is left to rollouts', { ...end, status: 'waiting' }, {}],
    ['that failed again, it waits twice as long', failed, { apply: nowMs + 4 * minute }],
    ['that failed at first, it waits a minute', { ...failed, isNew: true }, { apply: 61_000 }],
    ['without the database, it waits 5 seconds', { ...failed, isAway: true }, { apply: 6000 }],
    ['of an older tip, the new one is due', { ...failed, commit: other }, { apply: nowMs }],
  ])('%s', (_what, ended, expected) => {
    const agenda: Agenda = new Map([['apply', { atMs: 0, failedMs: 2 * minute }]])
    expect(list(endApply({ ...idle, agenda }, ended, nowMs))).toEqual({ ...expected, look: nowMs })
  })
})

describe('after a step', () => {
  const end = { id: 'r1', before: { atMs: 0, failedMs: minute }, waitMs: null }
  const again = { 'step r1': nowMs + 2 * minute }
  it.each([
    ['done', {}, { look: nowMs, apply: nowMs }],
    ['none', {}, { look: nowMs }],
    ['waiting', { waitMs: 7 }, { 'step r1': nowMs + 7 }],
    ['incomplete', {}, again],
    ['not-begun', {}, again],
    ['failed', {}, again],
    ['away', {}, { 'step r1': nowMs + 5000 }],
  ] as const)('that ended as %s', (status, changed, expected) => {
    const agenda = due(['step r1', 0])
    expect(list(endStep({ ...idle, agenda }, { ...end, status, ...changed }, nowMs))).toEqual(
      expected,
    )
  })
})

it.each([
  ['takes up a rollout that can go on', [], [running], { 'step r1': nowMs }, ['r1']],
  ['leaves one to somebody who decides', [], [listed], {}, []],
  ['applies what one that is gone has left', [listed], [], { apply: nowMs }, []],
])('a look %s', (_what, known, rollouts, expected, added) => {
  const taken = takeRollouts({ ...idle, known }, rollouts, nowMs)
  expect(list(taken.state)).toEqual(expected)
  expect(taken.added).toEqual(added)
})

it.each([
  [{ pending: 1 }, { apply: nowMs }],
  [{ pending: 1, held: 1 }, {}],
  [{ live: 1 }, {}],
])('a drift check that finds %o plans %o', (changed, expected) => {
  const summary = { pending: 0, live: 0, inDoubt: 0, held: 0, unanswered: 0, ...changed }
  const { held, ...counts } = summary
  const state = endDrift(idle, summary, { ms: nowMs, at })
  expect(list(state)).toEqual(expected)
  expect(state.found.drift).toEqual({ at, ...counts, pending: counts.pending - held })
})

it('only a new tip is applied, and each shows that fetches work', () => {
  const broken = setProblem(setProblem(idle, 'work', 'no rollouts'), 'fetch', 'no answer')
  expect(broken.found.problem).toBe('no answer')
  const now = { ms: nowMs, at }
  const [same, changed] = [takeTip(broken, tip, now), takeTip(broken, other, now)]
  expect([list(same), list(changed)]).toEqual([{}, { apply: nowMs }])
  expect(changed.found).toMatchObject({ commit: other, fetchedAt: at, problem: 'no rollouts' })
})

it('a step that is late by a minute is unattended, unless it runs', () => {
  const agenda = due(['step r1', 0], ['step r2', 0], ['step r3', 1])
  const state = { ...idle, agenda, stepping: 'r2' }
  expect(findUnattended(state, minute + 1)).toEqual({ unattended: ['r1'], added: ['r1'] })
  const found = { ...idle.found, unattended: ['r1'] }
  expect(findUnattended({ ...state, found }, minute + 1)).toMatchObject({ added: [] })
})
