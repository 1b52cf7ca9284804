// @module-tag often
// @module-tag nightly

import { expect, it } from 'vitest'
import { setFaults } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { ended, type Replica } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  listSent,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

/** Finds the only rollout once it has a state. */
async function findRollout(replica: Replica, states: string[]): Promise<string> {
  let found = ''
  await until(async () => {
    const { rollouts } = (await (await replica.get('/api/rollouts')).json()) as {
      rollouts: { id: string; state: string; wave: number }[]
    }
    const [only] = rollouts
    found = only?.id ?? ''
    return only !== undefined && states.includes(`${only.state} ${only.wave}`)
  })
  return found
}

async function decide(replica: Replica, verb: string, id: string): Promise<[number, unknown]> {
  const answer = await replica.get(`/api/rollouts/${id}/${verb}`, { method: 'POST' })
  return [answer.status, await answer.json()]
}

it('an abort while a wave is sent takes effect after it, and leaves the rest on hold', async () => {
  enterServed('rollout: {waves: [1, 100%], pause: 1h}\n')
  configure(5, 60)
  commit()
  await setFaults(emulator, { kind: 'delay', ms: 5000, on: [1] })
  const replica = await start('--poll', '86400')
  const id = await findRollout(replica, ['running 1'])
  const [approve, abort] = await Promise.all([
    decide(replica, 'approve', id),
    decide(replica, 'abort', id),
  ])
  expect([approve[0], abort]).toMatchObject([409, [200, { decision: 'aborted', held: 4 }]])
  await replica.waitFor(ended('', 'done'))
  const status = await (await replica.get('/api/status')).json()
  const message = expect.stringMatching(
    /^4 changes on hold since .* by rollout .*, stopped: aborted by token\./,
  )
  expect(status).toMatchObject({ applied: { status: 'done', message } })
  expect(await (await replica.get('/metrics')).text()).toMatch(/edgewise_branch_in_sync\{.*\} 0/)
  expect(await listSent()).toEqual([1])
  // It is recorded for its domains on hold, and decided.
  expect(await decide(replica, 'abort', id)).toMatchObject([
    409,
    { message: expect.stringContaining('has already ended') },
  ])
})

it('an abort while the last wave is sent is refused: the rollout has ended', async () => {
  enterServed('rollout: {waves: [1, 100%], pause: 1s}\n')
  configure(5, 60)
  commit()
  await setFaults(emulator, { kind: 'delay', ms: 5000, on: [2] })
  const replica = await start('--poll', '86400')
  const id = await findRollout(replica, ['running 2'])
  expect(await decide(replica, 'abort', id)).toMatchObject([409, { code: 'usage' }])
  await replica.waitFor(ended('', 'done'))
  expect(await listSent()).toEqual([1, 4])
  expect(await decide(replica, 'abort', id)).toMatchObject([404, { code: 'usage' }])
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
})
