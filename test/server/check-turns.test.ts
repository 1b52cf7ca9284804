import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLeadership } from '../../src/state/postgres/leadership.ts'
import { buildStatePaths } from '../../src/state/format/state-paths.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { context, TestSchema } from '../state/test-schema.ts'
import { Place } from '../steps/cli.ts'
import { place, setWorkspace } from '../steps/stage.ts'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

setWorkspace(() => new Place('emulator', 'id: shop\n', { state: 'state: {store: postgres}' }))

const open = () =>
  createLeadership(
    openDatabase(schema.configure(), context),
    buildStatePaths({ id: 'shop', address: 'emulator' }).home,
  )

/** Begins work as the check of another replica; returns what ends it. */
async function beginOther(): Promise<() => Promise<unknown>> {
  let end: () => void = () => undefined
  let other: Promise<unknown> = Promise.resolve()
  await new Promise<void>((begun) => {
    other = open().tryAlone(
      () =>
        new Promise<void>((resolve) => {
          end = resolve
          begun()
        }),
    )
  })
  return () => {
    end()
    return other
  }
}

/** Checks the commit of a workspace; `onWait` is called with the time that it has waited, ms. */
async function check(onWait: (waitedMs: number) => Promise<unknown>): Promise<number> {
  const { url } = schema.configure((address) => address.searchParams.delete('application_name'))
  place.env['DATABASE_URL'] = url
  place.write(
    'edgewise.yaml',
    place
      .read('edgewise.yaml')
      .replace('postgres}', `postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`),
  )
  place.manifest('www.example.com', { timeout: { time: '60' } })
  let waitedMs = 0
  place.onSleep = async (ms) => {
    waitedMs += ms
    await onWait(waitedMs)
  }
  const { code, out, err } = await place.cli('plan', '--json', '--rules', 'rules.json')
  if (code !== 0) throw new Error(out + err)
  return waitedMs
}

it('only one replica checks a commit at a time', async () => {
  const end = await beginOther()
  const waitedMs = await check(async (ms) => (ms < 60_000 ? undefined : end()))
  expect(waitedMs).toBeGreaterThanOrEqual(60_000)
  expect(waitedMs).toBeLessThan(70_000)
  expect(await check(async () => undefined)).toBe(0)
})

it('a check that hangs holds up no other one for more than five minutes', async () => {
  const end = await beginOther()
  expect(await check(async () => undefined)).toBeGreaterThanOrEqual(299_000)
  await end()
})

it('a check waits for none in a store without replicas', async () => {
  place.write(
    'edgewise.yaml',
    place.read('edgewise.yaml').replace('postgres}', 'dir, path: .edgewise/state}'),
  )
  place.manifest('www.example.com', { timeout: { time: '60' } })
  place.onSleep = async () => expect.fail('it waits')
  expect(await place.cli('plan', '--rules', 'rules.json', '--json')).toMatchObject({ code: 0 })
})

it('a defect of the work stays one, and who has ended is waited for no more', async () => {
  const fail = await open().tryAlone(() => Promise.reject(new TypeError('a defect')))
  expect(() => fail?.()).toThrow(new TypeError('a defect'))
  await beginOther()
  expect(await open().tryAlone(async () => 1)).toBe(null)
  await schema.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = $1 and state = 'idle in transaction'`,
    [schema.name],
  )
  await expect.poll(async () => (await open().tryAlone(async () => 1))?.()).toBe(1)
})
