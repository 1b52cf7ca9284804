import { describe, expect, it } from 'vitest'
import type { ApplyEvent } from '../../../src/core/model/events.ts'
import { computeTimes } from '../../../src/core/plan/plan-times.ts'
import type { ApplyReport } from '../../../src/outlets/report/apply/markdown.ts'
import { buildApplyPage } from '../../../src/outlets/report/page/build-apply-page.ts'
import { buildChange, buildPlan, buildWrite } from '../../plans.ts'
import { buildAbout } from './build-page.ts'

const time = '2026-03-01T00:00:00.000Z'
const name = (letter: string) => `${letter}.example.com`
const counts = { confirmed: 1, refused: 1, inDoubt: 1, notSent: 1 }
const parts = (id: number, letters: string) => ({
  time,
  id,
  domains: Array.from(letters, name),
  items: ['timeout'],
})
const started = (id: number, letters: string): ApplyEvent => ({
  type: 'write.started',
  ...parts(id, letters),
})
const confirmed = (id: number): ApplyEvent => ({ type: 'write.confirmed', time, id })
const refusal = { code: 7, message: 'bad value' }
const refused = (id: number): ApplyEvent => ({ type: 'write.refused', time, id, ...refusal })
const finished: ApplyEvent = {
  type: 'apply.finished',
  time,
  apply: 'x',
  stopped: null,
  parts: counts,
  ...counts,
}
const takingBack: ApplyEvent = {
  type: 'rollout.taking-back',
  time,
  apply: 'x',
  reason: 'worse',
  writes: 1,
}
const plan = buildPlan(
  [
    ...Array.from('abcdefg', (letter) => buildChange({ domain: name(letter) })),
    buildChange({ domain: name('a'), item: 'origin_host', reason: 'cleared', by: 'timeout' }),
    buildChange({ domain: name('r'), action: 'release', after: null }),
  ],
  {
    writes: ['ab', 'cd', 'e', 'f', 'g'].map((letters, i) =>
      buildWrite({ id: i + 1, domains: Array.from(letters, name) }),
    ),
  },
)

/** Builds the page of these events, and returns it with the states by domain and item. */
function build(events: ApplyEvent[], given: Partial<ApplyReport> = {}, hasItem = () => false) {
  const report: ApplyReport = { plan, events, status: 'incomplete', problem: null, ...given }
  const times = computeTimes(report.plan?.writes ?? [], { callsPerMinute: 30 })
  const page = buildApplyPage(report, times, buildAbout(), hasItem)
  const states = Object.fromEntries(
    page.changes.map(({ domain, part, state }) => {
      const item = page.items[page.parts[part]?.item ?? -1]
      return [`${page.domains[domain]?.[0]} ${item}`, state]
    }),
  )
  return { page, states }
}

describe('the page of an apply', () => {
  it('has the state of each change', () => {
    const { page, states } = build([
      started(1, 'ab'),
      confirmed(1),
      started(2, 'cd'),
      refused(2),
      { type: 'part.confirmed', ...parts(2, 'd') },
      { type: 'part.refused', ...parts(2, 'c'), file: 'domains/c.yaml', line: 7, ...refusal },
      started(3, 'e'),
      { type: 'write.in-doubt', ...parts(3, 'e'), message: 'no answer' },
      { type: 'write.not-sent', time, id: 4, message: 'interrupted', reason: 'interrupted' },
      { type: 'write.not-sent', time, id: 5, message: 'as recorded', reason: 'unchanged' },
      { ...finished, stopped: 'lost the lock' },
    ])
    expect(states).toEqual({
      'a timeout': 'confirmed',
      'b timeout': 'confirmed',
      'a origin_host': 'confirmed',
      'c timeout': 'refused',
      'd timeout': 'confirmed',
      'e timeout': 'in-doubt',
      'f timeout': 'not sent',
      'g timeout': 'unchanged',
      'r timeout': 'confirmed',
    })
    expect(page.title).toBe('Edgewise apply: storefront')
    expect(page.sentence).toBe(
      'Not everything was applied; writes: 1 confirmed, 1 refused, 1 in-doubt, 1 not sent. ' +
        'Stopped: lost the lock.',
    )
    expect(page.warnings).toEqual([
      'refused: timeout of c.example.com (domains/c.yaml:7): bad value',
    ])
  })

  it('has an item in-doubt whose refused call may follow one that was saved', () => {
    const { states } = build([
      started(2, 'cd'),
      refused(2),
      { type: 'part.refused', ...parts(2, 'c'), file: null, line: null, ...refusal },
      { type: 'write.in-doubt', ...parts(2, 'c'), message: 'an earlier call' },
    ])
    expect([states['c timeout'], states['d timeout']]).toEqual(['in-doubt', 'refused'])
  })

  it('has a write in-doubt that was begun, and not sent what was not, if the apply failed', () => {
    const { page, states } = build([started(1, 'ab')], { status: 'failed', problem: 'a\ndefect' })
    expect([states['a timeout'], states['c timeout']]).toEqual(['in-doubt', 'not sent'])
    expect(page.sentence).toBe('The apply ended with an error. a defect')
  })

  it('has the worst state of the writes of a change', () => {
    const writes = [1, 2].map((id) => buildWrite({ id, domains: [name('a')] }))
    const own = buildPlan([buildChange({ domain: name('a') })], { writes })
    const { states } = build([started(1, 'a'), confirmed(1), started(2, 'a'), refused(2)], {
      plan: own,
    })
    expect(states).toEqual({ 'a timeout': 'refused' })
  })

  it('has what a health check rolled back', () => {
    const { states } = build([
      started(1, 'ab'),
      confirmed(1),
      started(2, 'cd'),
      confirmed(2),
      takingBack,
      started(1, 'a'),
      confirmed(1),
      started(2, 'cd'),
      refused(2),
      { type: 'part.confirmed', ...parts(2, 'd') },
      started(3, 'b'),
      { type: 'write.in-doubt', ...parts(3, 'b'), message: 'no answer' },
    ])
    expect(states).toMatchObject({
      'a timeout': 'rolled back',
      'b timeout': 'in-doubt',
      'c timeout': 'confirmed',
      'd timeout': 'rolled back',
      'e timeout': 'not sent',
    })
  })

  it('has no release that state still has, and none if state is not known', () => {
    expect(build([], {}, () => true).states['r timeout']).toBe('not sent')
    const times = computeTimes(plan.writes, { callsPerMinute: 30 })
    const report: ApplyReport = { plan, events: [], status: 'failed', problem: null }
    const { changes } = buildApplyPage(report, times, buildAbout(), null)
    expect(changes.filter(({ state }) => state === null)).toHaveLength(1)
  })

  it('has no states before the end, and no changes without a plan', () => {
    const running = build([started(1, 'ab')], { status: 'running' })
    expect(running.page.sentence).toContain('has not ended')
    expect(new Set(Object.values(running.states))).toEqual(new Set([null]))
    const { page } = build([], { plan: null, status: 'failed', problem: 'locked' })
    expect([page.sentence, page.changes]).toEqual(['Nothing was applied. locked', []])
  })
})
