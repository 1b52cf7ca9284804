import { expect, it } from 'vitest'
import type { Executed } from '../../src/operations/submission/executed.ts'
import { describeRun } from '../../src/server/notifications.ts'

const counts = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }

/** Creates what a run came to. */
function end(status: string, changed: Partial<typeof counts>, outcome: object = {}) {
  const all = { ...counts, ...changed }
  const stopped = null
  const result = { ...all, parts: all, stopped, unrecorded: null, refusals: [], ...outcome }
  const finished = { type: 'apply.finished', time: '', apply: 'a1', stopped, ...all, parts: all }
  const about = { by: { name: 'ada' }, plan: { basis: { commit: null } } }
  return { status, finished, inWaves: false, doubts: [], result, ...about } as unknown as Executed
}

it.each([
  ['each time what was applied', end('done', { confirmed: 1 }), [['applied']], undefined],
  ['once that nothing was sent', end('incomplete', { notSent: 1 }), [], ['failed']],
  ['once what is refused again', end('incomplete', { refused: 1 }), [], ['refused']],
  ['nothing of a pause', end('waiting', { confirmed: 1 }, { waitsFor: 'pausing' }), [], undefined],
  ['nothing without a run', { ...end('done', {}), finished: undefined }, [], undefined],
])('says %s', (_what, executed, each, once) => {
  const described = describeRun(executed)
  expect(described.each.map(({ events }) => events)).toEqual(each)
  expect(described.once?.events).toEqual(once)
})
