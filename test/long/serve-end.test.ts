// @module-tag often
// @module-tag nightly

import { ended } from '../server/replica.ts'
import { expect, it } from 'vitest'
import { PostgresProxy } from '../state/postgres-proxy.ts'
import { setFaults } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import {
  commit,
  configure,
  enterServed,
  getDatabase,
  runSql,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

it('ends while a rollout sleeps', async () => {
  enterServed('rollout: {waves: [1, 100%], pause: 1h}\n')
  configure(5, 60)
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'waiting'))
  // The second time, the workflow of the rollout begins to sleep.
  await until(async () => {
    const waits = replica.log.filter(({ message }) => message === 'wave.waiting')
    return waits.length > 1
  })
  expect(await replica.end('SIGTERM')).toBe(143)
})

it('ends while the database is away', async () => {
  const proxy = await PostgresProxy.start(getDatabase().url)
  enterServed('rollout: {waves: [1, 100%], pause: 1h}\n')
  const url = new URL(getDatabase().url)
  proxy.redirect(url)
  place.env['DATABASE_URL'] = url.href
  configure(5, 60)
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'waiting'))
  proxy.decide = () => 'cut'
  await replica.waitFor('sign of life not given')
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(replica.log.at(-1)?.message).toBe('replica stopped')
  proxy.end()
})

it('ends in time whatever still runs', async () => {
  enterServed()
  const settings = place.read('edgewise.yaml')
  place.write('edgewise.yaml', settings.replace('service:\n', 'service:\n  timeoutSeconds: 2\n'))
  configure(1, 60)
  commit()
  await setFaults(emulator, { kind: 'delay', ms: 600_000 })
  const proxy = await PostgresProxy.start(getDatabase().url)
  const url = new URL(getDatabase().url)
  proxy.redirect(url)
  place.env['DATABASE_URL'] = url.href
  const replica = await start()
  await replica.waitFor('apply.started')
  // Nothing answers any more, and nothing is refused.
  proxy.decide = () => 'hold'
  const startMs = performance.now()
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(performance.now() - startMs).toBeLessThan(20_000)
  expect(replica.err).toContain('work left unfinished')
  proxy.end()
})

it('is not ready from when another replica leads, while its last call ends', async () => {
  enterServed()
  configure(1, 60)
  commit()
  await setFaults(emulator, { kind: 'delay', ms: 20_000 })
  const replica = await start()
  await replica.waitFor('apply.started')
  expect((await replica.get('/readyz')).status).toBe(200)
  await runSql(`update ${getDatabase().schema}.leaders set number = number + 1`)
  const ready = await replica.get('/readyz')
  expect([ready.status, await ready.text()]).toEqual([503, 'this replica ends\n'])
  await until(async () => {
    const status = (await (await replica.get('/api/status')).json()) as { role: string }
    return status.role === 'ending'
  })
  expect(await (await replica.get('/metrics')).text()).toMatch(/^edgewise_leader\{.*\} 0$/m)
  expect((await replica.get('/readyz')).status).toBe(503)
})
