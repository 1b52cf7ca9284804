import { expect, it } from 'vitest'
import type { ListedRollout } from '../../src/core/model/listed-rollout.ts'
import type { AppliedTimes, Rollout } from '../../src/core/model/rollout.ts'
import { formatRollouts } from '../../src/outlets/report/apply/rollouts-text.ts'
import { hashWave } from '../../src/engine/rollout/approvals.ts'
import { listRollout } from '../../src/engine/rollout/decide.ts'
import { buildRollout } from '../plans.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'

const at = (minute: number) => `2026-11-20T12:0${minute}:00.000Z`
const applied = (to: string | null): AppliedTimes => ({
  from: at(1),
  to,
  serviceFrom: null,
  serviceTo: null,
})
const [a, b] = ['a.example.com', 'b.example.com']
const rollout = buildRollout({
  startedAt: at(0),
  commit: '13683210750a0b0c',
  author: 'ada',
  desiredHashes: { [a]: 'sha256:0', [b]: 'sha256:0' },
  waves: [
    { domains: [a], applied: null, passed: false },
    {
      domains: [b],
      applied: null,
      passed: false,
      approval: { waitingSince: null, approved: null },
    },
  ],
})

/** Builds the rollout with its first wave, or with both, in some state. */
function build(first: AppliedTimes | null, passed: boolean, waitingSince?: string): Rollout {
  const [one, two] = rollout.waves
  if (one === undefined || two === undefined) throw new Error('expected two waves')
  const approval = { waitingSince: waitingSince ?? null, approved: null }
  return {
    ...rollout,
    waves: [
      { ...one, applied: first, passed },
      { ...two, approval },
    ],
  }
}

const sent = build(applied(at(2)), true, at(3))
const approved: Rollout = {
  ...sent,
  waves: sent.waves.map((wave, i) =>
    i === 0
      ? wave
      : {
          ...wave,
          approval: {
            waitingSince: at(3),
            approved: { author: 'ada', at: at(4), wave: hashWave(sent, 1) },
          },
        },
  ),
}

it.each<[ListedRollout['state'], Rollout, boolean, string, number, string]>([
  ['ready', rollout, false, at(0), 1, 'edgewise apply'],
  ['running', build(applied(null), false), true, at(1), 1, 'edgewise apply'],
  ['interrupted', build(applied(null), false), false, at(1), 1, 'edgewise apply'],
  ['pausing', build(applied(at(2)), false), false, at(2), 1, 'edgewise apply'],
  ['waiting-for-approval', sent, false, at(3), 2, 'edgewise rollout approve one'],
  ['approved', approved, false, at(4), 2, 'edgewise apply'],
  [
    'paused',
    { ...approved, paused: { author: 'ada', at: at(5) } },
    false,
    at(5),
    2,
    'edgewise rollout resume one',
  ],
  ['rolling-back', { ...sent, state: 'rolling-back' }, false, at(2), 2, 'edgewise rollback one'],
])('a rollout is %s', (state, given, isLocked, since, wave, command) => {
  expect(listRollout(given, isLocked)).toMatchObject({ state, since, wave, waves: 2, command })
})

it('an approval holds for the domains, the number and the rollout of its wave only', () => {
  const state = (given: Rollout) => listRollout(given, false).state
  const asked = { ...approved.desiredHashes, 'b.example.com': 'sha256:1' }
  expect(state({ ...approved, desiredHashes: asked })).toBe('waiting-for-approval')
  expect(state({ ...approved, id: 'two' })).toBe('waiting-for-approval')
  const [first, second] = approved.waves
  if (first === undefined || second === undefined) throw new Error('expected two waves')
  const domains = ['a.example.com', 'b.example.com']
  expect(state({ ...approved, waves: [first, { ...second, domains }] })).toBe(
    'waiting-for-approval',
  )
  expect(state({ ...approved, waves: [first, first, second] })).toBe('waiting-for-approval')
})

it('the list names the wave, the last apply and the command', () => {
  const listed = listRollout({ ...sent, applies: ['one-w1'] }, false)
  expect(formatRollouts([listed], null, plainPaint)).toBe(
    'one  waiting for approval  wave 2 of 2 (1 domain)\n' +
      '  since 2026-11-20T12:03:00Z · last apply one-w1 · by ada · 13683210750a\n' +
      '  continue with: edgewise rollout approve one\n',
  )
  expect(formatRollouts([], null, plainPaint)).toBe('There is no open rollout.\n')
})

it('the list names who has approved the wave, also if more have to, for exactly this wave', () => {
  const list = (given: Rollout) => listRollout(given, false).approvedBy
  expect(list(sent)).toBeUndefined()
  expect(list(approved)).toEqual(['ada'])
  expect(list({ ...approved, id: 'two' })).toBeUndefined()
  const [first, second] = sent.waves
  if (first === undefined || second === undefined) throw new Error('expected two waves')
  const given = ['ada', 'grace', 'ada'].map((author) => ({
    author,
    at: at(4),
    wave: hashWave(sent, 1),
  }))
  const approval = { waitingSince: at(3), given, approved: null }
  const partly = { ...sent, waves: [first, { ...second, approval }] }
  expect(list(partly)).toEqual(['ada', 'grace'])
  const text = formatRollouts([listRollout(partly, false)], null, plainPaint)
  expect(text).toContain(' · approved by ada, grace\n')
})
