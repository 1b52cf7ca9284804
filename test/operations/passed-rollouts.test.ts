import { expect, it } from 'vitest'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { decideRollouts } from '../../src/operations/submission/rollout-decisions.ts'
import { buildChange, buildPlan, buildRollout } from '../plans.ts'
import { Chance } from '../simulation/chance.ts'
import { createConfig } from '../simulation/config.ts'

const domain = 'a.example.com'
const wave = { domains: [domain], applied: null }
const config = createConfig(new Chance('config'), {
  store: 'dir',
  branch: '',
  remote: '',
  path: '.edgewise/state',
})

/** Decides about a plan that changes some domains, beside one rollout. */
async function decide(changed: string[], passed: boolean, looksBack?: string) {
  const rollout: Rollout = buildRollout({
    desiredHashes: { [domain]: 'sha256:0' },
    waves: [{ ...wave, passed }],
  })
  const never = () => Promise.reject(new Error('expected this never to be called'))
  const store = {
    listRollouts: async () => [rollout],
    hashRollouts: never,
    saveRollout: never,
    listEnded: never,
  }
  const plan = buildPlan(changed.map((name) => buildChange({ domain: name })))
  const request = { waves: true, ...(looksBack === undefined ? {} : { looksBack }) }
  const decided = await decideRollouts({ config, desired: new Map() }, store, plan, request)
  return [decided.continued?.id ?? null, decided.kept.map(({ id, state }) => `${id} ${state}`)]
}

it('a rollout whose waves have all passed is continued only by what judges it again', async () => {
  expect(await decide([], true, 'one')).toEqual(['one', []])
  expect(await decide([], true)).toEqual([null, []])
  expect(await decide([], true, 'other')).toEqual([null, []])
})

it('a change of its domains ends it, where an open rollout would refuse the change', async () => {
  expect(await decide([domain], true)).toEqual([null, ['one complete']])
  expect(await decide([domain], true, 'one')).toEqual([null, ['one complete']])
  expect(await decide(['b.example.com'], true)).toEqual([null, []])
  await expect(decide([domain], false)).rejects.toMatchObject({ code: 'rollout-open' })
})
