import { describe, expect, it } from 'vitest'
import type { ListedState } from '../../src/core/model/listed-rollout.ts'
import type { Rollout, RolloutWave } from '../../src/core/model/rollout.ts'
import type { RolloutEvent } from '../../src/outlets/report/apply/rollout-text.ts'
import { buildOpenRollout } from '../../src/outlets/report/live/build-rollout.ts'
import { buildRollout, openRollout } from '../server/page-stage.ts'

const time = '2026-01-02T03:00:00.000Z'
const sent = { from: time, to: time, serviceFrom: time, serviceTo: time }

const wait = (wave: number, reason: 'pause' | 'health' | 'baseline'): RolloutEvent => ({
  type: 'wave.waiting',
  time,
  wave,
  waves: 3,
  domains: 1,
  until: time,
  reason,
})
/** Lists the waves of a rollout; the first of them has passed. */
function list(
  events: RolloutEvent[],
  second: Partial<RolloutWave> = {},
  own: Partial<Rollout> = {},
  state?: ListedState,
): string[] {
  const all = buildRollout().waves.map(({ judged: _judged, ...wave }, i) =>
    i === 1 ? { ...wave, ...second } : wave,
  )
  const { waves } = buildOpenRollout(openRollout({ waves: all, ...own }, state), events)
  return waves.map(({ wave, health }) => `${wave} ${health?.state} ${health?.reason ?? ''}`.trim())
}

const ada = { author: 'ada', at: time }
const open = { approval: { waitingSince: null, approved: null } }

describe('the waves of an unfinished rollout', () => {
  it('have the verdicts that are recorded, whichever process checked them', () => {
    for (const events of [[], [wait(1, 'pause')], [wait(1, 'health')]])
      expect(list(events)).toEqual(['1 unchecked', '2 waiting', '3 not-begun'])
    expect(list([], {}, { waves: buildRollout().waves })[0]).toBe('1 healthy')
    const checking = list([wait(2, 'health')], { applied: sent })
    expect(checking[1]).toMatch(/^2 running Collecting statistics/)
  })

  it('wait for an approval until they have it', () => {
    expect(list([], {}, { paused: ada })[1]).toBe('2 waiting')
    const approved = { waitingSince: time, approved: { ...ada, wave: 'w' } }
    expect(list([], { approval: approved }, {}, 'approved')).toEqual([
      '1 unchecked',
      '2 next',
      '3 not-begun',
    ])
  })

  it('wait for a baseline until they have begun', () => {
    const waiting = list([wait(2, 'baseline')], open)
    expect(waiting[1]).toMatch(/^2 waiting Collecting the baseline/)
    const begun = { applied: { ...sent, to: null, serviceTo: null } }
    expect(list([wait(2, 'baseline')], begun, {}, 'running')[1]).toBe('2 begun')
    expect(list([wait(2, 'baseline')], { applied: sent })).toEqual([
      '1 unchecked',
      '2 running',
      '3 not-begun',
    ])
  })

  it('have their sizes, names and approvals', () => {
    const { waves } = buildOpenRollout(openRollout(), [])
    expect(
      waves.map(({ wave, domains, names, approval }) => [wave, domains, names.length, approval]),
    ).toEqual([
      [1, 1, 1, null],
      [2, 5, 5, 'needs approval'],
      [3, 25, 25, null],
    ])
  })
})

it.each<[ListedState, Partial<Rollout>, string[]]>([
  ['waiting-for-approval', {}, ['Approve wave 2 (5 domains)', 'Pause', 'Abort']],
  ['paused', { paused: ada }, ['Resume', 'Abort']],
  ['ready', {}, ['Pause', 'Abort']],
  ['rolling-back', {}, []],
])('a rollout that is %s has these decisions', (state, own, decisions) => {
  const { about } = buildOpenRollout(openRollout(own, state), [])
  const labels = about?.decisions.map(({ label }) => label) ?? []
  expect([...labels, ...(about?.canAbort === true ? ['Abort'] : [])]).toEqual(decisions)
})
