import { expect, it } from 'vitest'
import type { RolloutContext } from '../../src/engine/rollout/ports.ts'
import { rollOut } from '../../src/engine/rollout/roll-out.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { hashDomains } from '../../src/core/plan/basis.ts'
import { buildChange, buildPlan, buildRollout } from '../plans.ts'

const domain = 'a.example.com'
const rollout = buildRollout({
  desiredHashes: { [domain]: 'sha256:0' },
  waves: [{ domains: [domain], applied: null, passed: false }],
})
const recorded = hashDomains(new Map(), [domain])
const plan = buildPlan([buildChange({ domain })], { basis: { recorded } })

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
  unsettled: [],
  unshared: false,
  recorded: new Map(),
}
const never = () => Promise.reject(new Error('expected this never to be called'))

/** Builds a context whose writes are all confirmed, without a health check or a pause. */
function buildContext(
  now: () => number,
  saveRollout: RolloutContext['store']['saveRollout'],
): RolloutContext {
  return {
    clock: { now, monotonic: () => 0, sleep: never },
    time: { now: () => null, ask: never },
    service: { count: never, list: never },
    applying: {
      prepare: async (part) => part,
      execute: async () => done,
      rollBack: never,
      isAccountStopped: () => false,
      whileUnlocked: (work) => work(),
    },
    store: {
      load: async () => new Map(),
      listRollouts: async () => [rollout],
      saveRollout,
      listEnded: async () => [],
    },
    settings: { pauseMs: 0, rule: null, zone: createTimeZone('UTC') },
    suspends: false,
    looksBack: false,
    signal: new AbortController().signal,
    report: () => undefined,
  }
}

it('a wave does not end before its start, even if the clock is set back', async () => {
  const kept: Rollout[] = []
  const [noon, earlier] = ['2026-11-20T12:00:00.000Z', '2026-11-20T10:00:00.000Z']
  const times = [noon, noon]
  const context = buildContext(
    () => Date.parse(times.shift() ?? earlier),
    async (each) => void kept.push(each),
  )
  const result = await rollOut(plan, rollout, new Map(), context)
  expect(result.confirmed).toBe(1)
  expect(result.recorded).toBe(done.recorded)
  expect(kept.at(-1)?.waves[0]?.applied).toEqual({
    from: noon,
    to: noon,
    serviceFrom: null,
    serviceTo: null,
  })
})

it('an open rollout names the recorded wave if a passed wave could not be recorded', async () => {
  const other = 'b.example.com'
  const domains = [domain, other]
  const both = buildPlan(
    domains.map((each) => buildChange({ domain: each })),
    { basis: { recorded: hashDomains(new Map(), domains) } },
  )
  const writes = both.writes.map((write) => ({ ...write, wave: write.id }))
  const waves = domains.map((each) => ({ domains: [each], applied: null, passed: false }))
  const context = buildContext(Date.now, async ({ waves: [first] }) => {
    if (first?.passed === true)
      throw new EdgewiseError('record-unreachable', 'the remote refused a push')
  })
  const result = await rollOut({ ...both, writes }, { ...rollout, waves }, new Map(), context)
  expect(result.stopped).toBe(
    'the remote refused a push; the rollout stays open; it reached wave 2 of 2, but the recorded ' +
      'state may still show wave 1 of 2; the next apply resumes it',
  )
})
