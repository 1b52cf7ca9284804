import { describe, expect, it } from 'vitest'
import type { ListedState } from '../../src/model/listed-rollout.ts'
import type { Rollout, RolloutWave } from '../../src/model/rollout.ts'
import { formatRolloutPage, type WaveEvent } from '../../src/report/live/rollout-page.ts'
import { buildStatistics } from '../health/statistics.ts'
import { buildRollout, openRollout } from '../server/page-stage.ts'

const time = '2026-01-02T03:00:00.000Z'
const sent = { from: time, to: time, serviceFrom: time, serviceTo: time }
const place = { path: '/', watches: 'overview', revision: 'a', commit: null, at: time } as const

const wait = (wave: number, reason: 'pause' | 'health' | 'baseline'): WaveEvent => ({
  type: 'wave.waiting',
  time,
  wave,
  waves: 3,
  domains: 1,
  until: time,
  reason,
})
const approval: WaveEvent = {
  type: 'rollout.waiting-for-approval',
  time,
  apply: 'r1',
  wave: 2,
  waves: 3,
  domains: 5,
  reason: 'approval',
  command: 'edgewise rollout approve r1',
}
const judged: WaveEvent = {
  type: 'wave.judged',
  time,
  wave: 1,
  verdict: 'same-or-better',
  reason: null,
  worse: [],
  before: { requests: 8200, bad: 33 },
  after: { requests: 8100, bad: 30 },
  statistics: buildStatistics(),
}

/** Lists the titles of the waves of a page, the first of which has passed. */
function list(
  events: WaveEvent[],
  second: Partial<RolloutWave> = {},
  own: Partial<Rollout> = {},
  state?: ListedState,
): string[] {
  const waves = buildRollout().waves.map((wave, i) => (i === 1 ? { ...wave, ...second } : wave))
  const open = openRollout({ waves, ...own }, state)
  const html = formatRolloutPage(open, events, place, null, null)
  return [...html.matchAll(/<\/b> (Wave \d: [^<]*)<\/h3>(?:.*?class="reason">([^<]*))?/g)].map(
    ([, title = '', reason = '']) => `${title} ${reason}`.trim(),
  )
}

const unseen = 'Wave 1: written; this replica has seen no health check of it'
const asks = 'Wave 2: waiting It waits: &quot;edgewise rollout approve r1&quot;.'

describe('the waves of an unfinished rollout', () => {
  it('that another process has checked are not called unchecked', () => {
    expect(list([])).toEqual([unseen])
    expect(list([wait(1, 'pause')])).toEqual([unseen])
    expect(list([judged])).toEqual(['Wave 1: healthy'])
  })

  it('that have passed are not being checked any more', () => {
    expect(list([wait(1, 'health')])).toEqual([unseen])
    const checking = list([wait(2, 'health')], { applied: sent })
    expect(checking[0]).toMatch(/^Wave 2: health check not finished Collecting statistics/)
  })

  it('wait for an approval until they have it', () => {
    expect(list([approval])).toEqual([asks, unseen])
    expect(list([approval], {}, { paused: { author: 'ada', at: time } })).toEqual([asks, unseen])
    const approved = { waitingSince: time, approved: { author: 'ada', at: time, wave: 'w' } }
    expect(list([approval], { approval: approved }, {}, 'approved')).toEqual([unseen])
  })

  it('wait for a baseline until they have begun', () => {
    const waiting = list([wait(2, 'baseline')])
    expect(waiting[0]).toMatch(/^Wave 2: waiting Collecting the baseline/)
    const begun = { applied: { ...sent, to: null, serviceTo: null } }
    expect(list([wait(2, 'baseline')], begun, {}, 'running')).toEqual([
      'Wave 2: not completely written',
      unseen,
    ])
    expect(list([wait(2, 'baseline')], { applied: sent })).toEqual([
      unseen,
      unseen.replace('Wave 1', 'Wave 2'),
    ])
  })
})
