// @module-tag often
// @module-tag nightly

import { createHmac } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ended, type Replica } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  git,
  listSent,
  setServeStage,
  start,
  startFollowing,
  until,
} from '../server/serve-stage.ts'
import { fetchConfig } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'

setStage()
setServeStage()

const secret = 'secret-of-the-webhook'
const fetchTime = async () => (await fetchConfig(emulator, 'd0.example.com'))['timeout']
const isApplied = (replica: Replica, tip: string) => async () => {
  const { applied } = (await (await replica.get('/api/status')).json()) as Status
  return applied?.commit === tip && applied.status === 'done'
}
interface Status {
  commit: string
  applied: { commit: string; status: string; message: string | null } | null
}

/** Expects a replica that does not apply a commit, and says why. */
async function expectRefused(replica: Replica, tip: string): Promise<void> {
  await replica.waitFor(ended(tip, 'failed'))
  const { applied } = (await (await replica.get('/api/status')).json()) as Status
  expect(applied?.message).toContain(
    'refuses to go back to older values (timeout of d0.example.com)',
  )
  // A page may show what was so a second ago.
  const isShown = async () =>
    (await (await replica.get('/')).text()).includes('to go back to older values')
  await until(isShown)
  const metrics = await (await replica.get('/metrics')).text()
  expect(metrics).toMatch(/^edgewise_branch_in_sync\{.*\} 0$/m)
  expect(metrics).toMatch(/^edgewise_errors_total\{code="guarded",.*\} 1$/m)
}

it('waits when its branch is set back, for a person or a newer commit', async () => {
  enterServed()
  place.env['EDGEWISE_WEBHOOK_SECRET'] = secret
  configure(1, 60)
  const older = commit()
  const replica = await start()
  await until(isApplied(replica, older))
  configure(1, 90)
  await until(isApplied(replica, commit()))

  git('reset', '--quiet', '--hard', older)
  await expectRefused(replica, older)
  expect([await fetchTime(), await listSent()]).toEqual([{ time: '90' }, [1, 1]])

  const applied = await place.cli('apply', '--yes', '--allow-older')
  expect([applied.code, await fetchTime()]).toEqual([0, { time: '60' }])
  const signature = `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`
  const headers = { 'X-Hub-Signature-256': signature }
  await replica.get('/webhook', { method: 'POST', body: '{}', headers })
  await until(isApplied(replica, older))
  configure(1, 120)
  await until(isApplied(replica, commit()))
  expect(await fetchTime()).toEqual({ time: '120' })
})

it('waits when it follows a clone that lags behind', async () => {
  enterServed()
  configure(1, 60)
  const older = commit()
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  const clone = join(place.root, '.git', 'lagging')
  execFileSync('git', ['clone', '--quiet', '--bare', place.root, clone])
  configure(1, 90)
  const newer = commit()
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  const replica = await startFollowing(clone)
  await expectRefused(replica, older)
  expect([await fetchTime(), await listSent()]).toEqual([{ time: '90' }, [1, 1]])
  execFileSync('git', ['--git-dir', clone, 'fetch', '--quiet', place.root, '+main:main'])
  await until(isApplied(replica, newer))
  expect(await listSent()).toEqual([1, 1])
})
