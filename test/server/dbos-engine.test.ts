import { DBOS } from '@dbos-inc/dbos-sdk'
import { expect, it } from 'vitest'
import type { Clock } from '../../src/model/clock.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { createNodeOutside } from '../../src/operations/node-outside.ts'
import { loadWorkspace } from '../../src/operations/load-workspace.ts'
import { launchDbos } from '../../src/server/dbos-engine.ts'
import type { Engine, Workflow } from '../../src/server/engine.ts'
import { createLogger } from '../../src/server/logger.ts'
import { place, setStage } from '../steps/stage.ts'
import { PostgresProxy } from '../state/postgres-proxy.ts'
import { enterServed, getDatabase, runSql, setServeStage } from './serve-stage.ts'

setStage()
setServeStage()

const done: string[] = []
const lines: string[] = []
const checked: string[] = []

/** Launches the engine of a version, whose workflow takes a step, sleeps, and takes another one. */
async function launch(version: string, sleepMs: number, id = 'a'): Promise<Engine> {
  const rollout: Workflow = async (_input: JsonObject, durable) => {
    await durable.step('first', async () => void done.push(`${version} first`))
    await durable.sleep(sleepMs)
    await durable.step('second', async () => void done.push(`${version} second`))
  }
  const outside = { ...createNodeOutside(new AbortController().signal), env: place.env }
  const { config } = loadWorkspace(place.root, outside, 'none')
  const workspace = { config: { ...config, id } }
  const logger = createLogger({
    clock: outside.clock,
    out: (line) => void lines.push(line),
    format: 'text',
    level: 'info',
  })
  const drift = async () => void checked.push(id)
  const clock: Clock = {
    ...outside.clock,
    // The pause between two batches of deletions.
    sleep: (ms, signal) => outside.clock.sleep(ms === 10_000 ? 10 : ms, signal),
  }
  const ports = { logger, clock, signal: outside.signal }
  return launchDbos(workspace, { rollout, drift }, ports, version)
}

async function untilNoneIsOpen(engine: Engine): Promise<void> {
  while ((await engine.listOpen()).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
}

it('resumes workflows after a restart, and begins those of another version anew', async () => {
  enterServed()
  const first = await launch('one', 3000)
  await first.start('rollout', 'a', {})
  while (done.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
  await first.close()
  const again = await launch('one', 3000)
  expect(await again.listOpen()).toEqual(['a'])
  await untilNoneIsOpen(again)
  expect(done).toEqual(['one first', 'one second'])
  // The same id is the same workflow, which has ended.
  await again.start('rollout', 'a', {})
  await untilNoneIsOpen(again)
  await again.start('rollout', 'b', {})
  while (done.length < 3) await new Promise((resolve) => setTimeout(resolve, 20))
  await again.close()
  const other = await launch('two', 0)
  expect(await other.listOpen()).toEqual([])
  await other.start('rollout', 'c', {})
  await untilNoneIsOpen(other)
  await other.close()
  expect(done).toEqual(['one first', 'one second', 'one first', 'two first', 'two second'])
  expect(lines.join('')).toContain('replaces workflows of another version workflows=1')
})

it('names a schedule that has no meaning', async () => {
  enterServed()
  const engine = await launch('three', 0)
  await engine.schedule('*/5 * * * *')
  await engine.schedule(null)
  await expect(engine.schedule('61 * * * *')).rejects.toThrow(/"serve.drift.schedule"/)
  await engine.close()
})

it('leaves alone what belongs to another workspace in the same database', async () => {
  enterServed()
  const one = await launch('four', 60_000, 'one')
  await one.schedule('*/5 * * * *')
  const before = done.length
  await one.start('rollout', 'd', {})
  while (done.length === before) await new Promise((resolve) => setTimeout(resolve, 20))
  await one.close()
  const two = await launch('five', 0, 'two')
  expect(await two.listOpen()).toEqual([])
  await two.schedule(null)
  await two.close()
  const again = await launch('four', 60_000, 'one')
  expect(await again.listOpen()).toEqual(['d'])
  await again.close()
  const { schema } = getDatabase()
  const rows = await runSql(
    `select application_name as name from ${schema}_dbos.workflow_schedules`,
  )
  expect(rows).toEqual([{ name: expect.stringMatching(/^edgewise-[0-9a-f]{16}$/) }])
})

it('runs no drift check of another workspace with state in the same schema', async () => {
  enterServed()
  const one = await launch('four', 0, 'one')
  await one.schedule('0 0 1 1 *')
  await one.close()
  const two = await launch('four', 0, 'two')
  await two.schedule('0 0 1 1 *')
  const schedules = await DBOS.listSchedules({ applicationName: [] })
  expect(schedules.map(({ scheduleName }) => scheduleName.split(' ')[1])).toEqual(['one', 'two'])
  for (const { scheduleName } of schedules) await DBOS.triggerSchedule(scheduleName)
  while (checked.length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
  await two.close()
  expect(checked).toEqual(['two'])
})

it('checks for drift after a return to an older version', async () => {
  enterServed()
  const { schema } = getDatabase()
  const check = async (version: string) => {
    const engine = await launch(version, 0, 'returned')
    expect(await engine.listOpen()).toEqual([])
    await engine.schedule('0 0 1 1 *')
    const before = checked.length
    for (const { scheduleName } of await DBOS.listSchedules())
      await DBOS.triggerSchedule(scheduleName)
    await expect.poll(() => checked.length, { timeout: 10_000 }).toBe(before + 1)
    await untilNoneIsOpen(engine)
    await engine.close()
  }
  await check('old')
  await check('new')
  // The leader was killed before it began the check.
  await runSql(
    `update ${schema}_dbos.workflow_status
     set status = 'ENQUEUED', executor_id = '', completed_at = null
     where application_version like '%-new'`,
  )
  await check('old')
  const left = await runSql(
    `select status from ${schema}_dbos.workflow_status where application_version like '%-new'`,
  )
  expect(left).toEqual([{ status: 'CANCELLED' }])
})

it('deletes its own ended workflows after a week, in batches', async () => {
  enterServed()
  for (const id of ['one', 'two']) {
    const engine = await launch('kept', 0, id)
    await engine.start('rollout', id, {})
    await untilNoneIsOpen(engine)
    await engine.close()
  }
  const { schema } = getDatabase()
  const table = `${schema}_dbos.workflow_status`
  const columns = 'name, application_name, application_version, executor_id'
  const add = (id: string, count: number, status: string, endedMs: number | null) =>
    runSql(
      `insert into ${table} (workflow_uuid, status, completed_at, created_at, ${columns})
       select '${id} ' || i, '${status}', ${endedMs}, 0, ${columns}
       from ${table}, generate_series(1, ${count}) i where workflow_uuid = 'one'`,
    )
  const findBefore = (days: number) => Date.now() - days * 86_400_000
  await add('ended', 510, 'SUCCESS', findBefore(8))
  await add('failed', 1, 'ERROR', findBefore(8))
  await add('late', 1, 'CANCELLED', findBefore(6))
  // Another process has it.
  await add('open', 1, 'PENDING', null)
  await runSql(`update ${table} set executor_id = 'other' where workflow_uuid = 'open 1'`)
  await runSql(`update ${table} set completed_at = 1 where workflow_uuid in ('one', 'two')`)
  const engine = await launch('kept', 0, 'one')
  const countRows = async () => (await runSql(`select from ${table}`)).length
  await expect.poll(countRows, { timeout: 10_000 }).toBe(3)
  await engine.close()
  const left = await runSql(`select workflow_uuid as id from ${table} order by id`)
  expect(left).toEqual([{ id: 'late 1' }, { id: 'open 1' }, { id: 'two' }])
  expect(await runSql(`select from ${schema}_dbos.operation_outputs`)).toHaveLength(3)
})

it('does not blame the schedule for a failure of the database', async () => {
  enterServed()
  const proxy = await PostgresProxy.start(getDatabase().url)
  const url = new URL(getDatabase().url)
  proxy.redirect(url)
  place.env['DATABASE_URL'] = url.href
  const engine = await launch('five', 0)
  proxy.decide = () => 'cut'
  const failure = { code: 'record-unreachable' }
  await expect(engine.schedule('*/5 * * * *')).rejects.toMatchObject(failure)
  proxy.decide = () => 'pass'
  await engine.close()
  proxy.end()
})
