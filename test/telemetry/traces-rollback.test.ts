// @module-tag often
import { expect, it } from 'vitest'
import { breakOrigins } from '../stories/unfinished-rollback.ts'
import { place, setStageInTime, time } from '../steps/stage.ts'
import { enterTraced, find, receiver, setTracedStage } from './traced-stage.ts'

setStageInTime()
setTracedStage()

it('a rollout has its verdict and its rollback', async () => {
  const health = '{onFailure: rollback, grain: hour, window: 1h}'
  enterTraced(`rollout: {waves: [4, 100%], pause: 1m, health: ${health}}\n`)
  await breakOrigins(place, time, 8, {})
  receiver.requests.splice(0)
  expect((await place.cli('apply', '--yes')).code).toBe(3)
  expect(find('watch wave')).toMatchObject({
    isError: true,
    attributes: { 'edgewise.wave': 1, 'edgewise.verdict': 'worse', 'error.type': 'worse' },
  })
  const below = (name: string) => {
    const { spanId } = find(name)
    return receiver.spans.flatMap((each) => (each.parentSpanId === spanId ? each.name : []))
  }
  expect(new Set(below('watch wave'))).toEqual(new Set(['GET']))
  expect(below('roll back wave')).toEqual(['wave'])
  expect(find('edgewise apply').attributes).toMatchObject({
    'edgewise.status': 'incomplete',
    'edgewise.rollout': expect.stringMatching(/^\d{8}T/) as string,
  })
})
