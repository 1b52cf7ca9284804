// @module-tag often
// @module-tag nightly

import { expect, it } from 'vitest'
import { ended, notApplied, type Replica } from '../server/replica.ts'
import { commit, enterServed, listSent, name, setServeStage, start } from '../server/serve-stage.ts'
import { place, setStage } from '../steps/stage.ts'

setStage()
setServeStage()

const policy = 'policy: slow\nlevel: hard\n'
const expression =
  'on: domain\nwhen: has(config.timeout)\ndeny: int(config.timeout.time) > 65\nmessage: too slow\n'

const readStatus = async (replica: Replica) =>
  (await (await replica.get('/api/status')).json()) as object

it('refuses a commit that violates a hard policy, shows why, and applies the next', async () => {
  enterServed()
  place.write('policies/slow.yaml', policy + expression)
  place.manifest(name(1), { timeout: { time: 60 } })
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  place.manifest(name(1), { timeout: { time: 70 } })
  const bad = commit()
  await replica.waitFor(notApplied(bad))
  const why = 'slow (hard): too slow'
  await replica.waitFor(ended(bad, 'failed'))
  expect(await readStatus(replica)).toMatchObject({
    commit: bad,
    applied: {
      commit: bad,
      status: 'failed',
      message: expect.stringContaining(why) as string,
    },
  })
  expect(await (await replica.get('/')).text()).toContain(why)
  expect(await listSent()).toEqual([1])
  // An exception counts from the commit after its own.
  const entry = 'policy: slow, reason: until March, until: 2099-12-31'
  place.write('policies/except.yaml', `except: [{${entry}}]\n`)
  const excepted = commit()
  await replica.waitFor(notApplied(excepted))
  const next = commit()
  await replica.waitFor(ended(next, 'done'))
  expect(await listSent()).toEqual([1, 1])
})
