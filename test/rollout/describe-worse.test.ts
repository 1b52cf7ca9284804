import { expect, it } from 'vitest'
import { describeWorse } from '../../src/engine/rollout/conflicts.ts'
import { buildRollout } from '../server/page-stage.ts'

it('worse values that stayed are told until the manifests ask for others', () => {
  const rollout = buildRollout({
    state: 'stopped',
    reason: 'wave 1 of 1: 5xx rose',
    endedAt: '2026-01-02T04:00:00.000Z',
    unhealthy: { 'a.example.com': { origin: 'bad' }, 'b.example.com': { origin: 'bad' } },
  })
  const others = [buildRollout(), buildRollout({ state: 'stopped' })]
  expect(describeWorse([rollout, ...others], () => 'bad')).toEqual([
    '2 domains worse since 2026-01-02 04:00 UTC by rollout r1, stopped: wave 1 of 1: 5xx rose. ' +
      '"edgewise rollback r1" rolls back',
  ])
  const mended = (domain: string) => (domain.startsWith('a') ? 'good' : 'bad')
  expect(describeWorse([rollout], mended)).toEqual([expect.stringMatching(/^1 domain worse/)])
  expect(describeWorse([rollout], () => 'good')).toEqual([])
})
