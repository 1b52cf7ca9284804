import { expect, it } from 'vitest'
import type { RolloutContext } from '../../src/rollout/ports.ts'
import { rollOut } from '../../src/rollout/roll-out.ts'
import type { Rollout } from '../../src/model/rollout.ts'
import { createTimeZone } from '../../src/model/time-zone.ts'
import { hashDomains } from '../../src/plan/basis.ts'
import { buildChange, buildPlan } from '../plans.ts'

const domain = 'a.example.com'
const rollout: Rollout = {
  id: 'one',
  startedAt: '2026-11-20T12:00:00.000Z',
  commit: null,
  author: null,
  state: 'open',
  reason: null,
  items: [],
  asked: { [domain]: 'sha256:0' },
  held: [],
  waves: [{ domains: [domain], applied: null, passed: false }],
  released: [],
  applies: [],
}
const recorded = hashDomains(new Map(), [domain])
const plan = buildPlan([buildChange({ domain })], { basis: { recorded } })

it('a wave does not end before its start, even if the clock is set back', async () => {
  const kept: Rollout[] = []
  const [noon, earlier] = ['2026-11-20T12:00:00.000Z', '2026-11-20T10:00:00.000Z']
  const times = [noon, noon]
  const recordedThen = new Map()
  const done = {
    confirmed: 1,
    refused: 0,
    inDoubt: 0,
    notSent: 0,
    parts: { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 },
    sent: true,
    stopped: null,
    refusals: [],
    unrecorded: null,
    unshared: false,
    recorded: recordedThen,
  }
  const never = () => Promise.reject(new Error('expected this never to be called'))
  const context: RolloutContext = {
    clock: { now: () => Date.parse(times.shift() ?? earlier), monotonic: () => 0, sleep: never },
    time: { now: () => null, ask: never },
    service: { count: never, list: never },
    applying: {
      prepare: async (part) => part,
      execute: async () => done,
      rollBack: never,
      whileUnlocked: (work) => work(),
    },
    store: {
      load: async () => new Map(),
      listRollouts: async () => [rollout],
      saveRollout: async (each) => void kept.push(each),
      deleteRollouts: async () => undefined,
    },
    settings: { pauseMs: 0, rule: null, zone: createTimeZone('UTC') },
    signal: new AbortController().signal,
    report: () => undefined,
  }
  const result = await rollOut(plan, rollout, new Map(), context)
  expect(result.confirmed).toBe(1)
  expect(result.recorded).toBe(recordedThen)
  expect(kept.at(-1)?.waves[0]?.applied).toEqual({
    from: noon,
    to: noon,
    serviceFrom: null,
    serviceTo: null,
  })
})
