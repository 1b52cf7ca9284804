import { describe, expect, it } from 'vitest'
import type { ListedState } from '../../src/core/model/listed-rollout.ts'
import { listHeadlines } from '../../src/outlets/report/live/headline.ts'
import { buildOverview, headCommit, openRollout } from '../server/page-stage.ts'

const at = '2026-01-02T03:00:00.000Z'
const waits = openRollout()
const pauses = openRollout({ id: 'r2', paused: { author: 'ada', at } })
const runs = openRollout({ id: 'r3' }, 'running')
const failed = { commit: headCommit, at, status: 'failed', message: 'a guard refuses it' }

/** Lists the tones and texts of the headlines of an overview. */
const list = (own: Parameters<typeof buildOverview>[0]) =>
  listHeadlines(buildOverview(own)).map(({ tone, text }) => `${tone}: ${text}`)

describe('headlines', () => {
  it('have what waits first, then what was stopped or failed, drift, and what runs', () => {
    const drift = { at, pending: 3, live: 2, inDoubt: 1, unanswered: 4 }
    const problem = 'branch not fetched: away'
    const all = { rollouts: [runs, waits, pauses], problem, drift }
    const left = ['2 changes on hold by rollout r0, stopped: more errors']
    expect(list({ ...all, applied: { ...failed, left } })).toEqual([
      'attention: Wave 2 of 3 waits for approval: 5 domains.',
      'attention: The rollout is paused before wave 2 of 3.',
      'problem: 2 changes on hold by rollout r0, stopped: more errors.',
      'problem: At the moment: branch not fetched: away',
      'problem: Commit 4f0c2d9a1b7e is not applied: a guard refuses it',
      'attention: Last drift check: 2 items of the service differed from state, 1 item in-doubt, ' +
        '4 domains not at the service.',
      'busy: Wave 2 of 3 is being sent: 5 domains.',
    ])
  })

  it('say that a replica ends, and which rollouts nothing works on', () => {
    const working = { what: 'the apply of commit 0123456789ab', since: at }
    expect(list({ role: 'ending' })).toEqual(['problem: This replica ends: it leads no more.'])
    expect(list({ unattended: ['r1', 'r2'] })).toEqual([
      'problem: Nothing works on rollout r1, whose next step is due.',
      'problem: Nothing works on rollout r2, whose next step is due.',
    ])
    expect(list({ unattended: ['r1'], working })).toEqual([
      'problem: Nothing works on rollout r1, whose next step is due: this replica is at the ' +
        'apply of commit 0123456789ab.',
    ])
  })

  it.each<[ListedState, string]>([
    ['running', 'busy: Wave 2 of 3 is being sent: 5 domains.'],
    ['interrupted', 'problem: Wave 2 of 3 is interrupted (5 domains); the rest is sent again.'],
    ['incomplete', 'problem: Wave 2 of 3 is incomplete (5 domains); the rest is sent again.'],
    ['pausing', 'busy: Wave 2 of 3 is sent: the pause or the health check runs.'],
    ['ready', 'busy: Wave 2 of 3 begins soon: 5 domains.'],
    ['approved', 'busy: Wave 2 of 3 begins soon: 5 domains.'],
    ['rolling-back', 'problem: The rollback of rollout r1 is unfinished.'],
  ])('of a rollout that is %s', (state, text) => {
    expect(list({ rollouts: [openRollout({}, state)] })).toEqual([text])
  })

  it('there is one if nothing waits', () => {
    const applied = { commit: headCommit, at, status: 'done', message: null }
    const calm = `fine: Commit ${headCommit.slice(0, 12)} is applied, nothing waits.`
    expect(list({ applied })).toEqual([calm])
    expect(list({ applied: { ...applied, commit: 'b'.repeat(40) } })).toEqual([
      `busy: Commit ${headCommit.slice(0, 12)} is not applied yet.`,
    ])
    expect(list({ applied: null, commit: null })).toEqual(['busy: The branch is not fetched yet.'])
    expect(list({ applied, role: 'standby' })).toEqual([calm])
    const told = { ...applied, message: '2 changes on hold', left: ['2 changes on hold', 'more'] }
    expect(list({ applied: told })).toEqual(['problem: 2 changes on hold.', 'problem: more.'])
    expect(list({ applied: { ...told, status: 'incomplete' } })).toContain(
      'problem: Commit 4f0c2d9a1b7e is not applied as a whole: incomplete',
    )
    const held = { ...applied, message: '2 changes on hold' }
    expect(list({ applied: held, commit: 'b' })).toEqual([
      'problem: Commit 4f0c2d9a1b7e is not applied as a whole, and a later one is next: ' +
        '2 changes on hold',
    ])
  })
})
