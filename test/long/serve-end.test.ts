// @module-tag often

import { once } from 'node:events'
import pg from 'pg'
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
  await replica.waitFor(': waiting')
  // The second time, the workflow of the rollout begins to sleep.
  await until(async () => {
    const waits = replica.log.filter(({ message }) => message === 'wave.waiting')
    return waits.length > 1
  })
  expect(await replica.end('SIGTERM')).toBe(143)
})

it('ends while its engine waits for the database', async () => {
  const proxy = await PostgresProxy.start(getDatabase().url)
  enterServed('rollout: {waves: [1, 100%], pause: 1h}\n')
  const url = new URL(getDatabase().url)
  proxy.redirect(url)
  place.env['DATABASE_URL'] = url.href
  configure(5, 60)
  commit()
  const replica = await start()
  await replica.waitFor(': waiting')
  // The rounds reach the state, and wait for the engine.
  const lists = ({ texts }: { texts: string[] }) =>
    texts.some((text) => /select[^]*workflow_status/i.test(text) && !text.includes('FOR UPDATE'))
  proxy.decide = (message) => (lists(message) ? 'cut' : 'pass')
  await replica.waitFor('Database connection failed')
  proxy.decide = () => 'cut'
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(replica.log.at(-1)?.message).toBe('stopped')
  proxy.end()
})

it('ends when its engine can not begin, so that another replica may lead', async () => {
  enterServed()
  configure(1, 60)
  commit()
  const { url, schema } = getDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create schema ${schema}_dbos`)
  await client.query(`create table ${schema}_dbos.dbos_migrations (other int)`)
  await client.end()
  const replica = await start()
  const ended = once(replica.process, 'exit')
  await replica.waitFor('leads')
  expect((await ended)[0]).toBe(1)
  expect(replica.err).toContain('column "version" does not exist')
  expect(replica.err).not.toContain('internal error')
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
    return status.role === 'standby'
  })
  expect(await (await replica.get('/metrics')).text()).toMatch(/^edgewise_leader\{.*\} 0$/m)
  expect((await replica.get('/readyz')).status).toBe(503)
})
