import { fstatSync, linkSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWorld } from './world.ts'

let folder = ''
let dataFile = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-data-'))
  dataFile = join(folder, 'emulator.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Syncs that end when the test ends them. */
class Syncs {
  readonly open: PromiseWithResolvers[] = []
  /** Bytes of the file when each sync began. */
  readonly sizes: number[] = []
  /** File of each sync, and what it was open for when the sync began. */
  readonly files: { handle: number; inode: number }[] = []

  readonly sync = (handle: number): Promise<void> => {
    this.files.push({ handle, inode: fstatSync(handle).ino })
    this.sizes.push(statSync(dataFile).size)
    const { promise, ...ends } = createPromise()
    this.open.push({ promise, ...ends })
    return promise
  }
}

interface PromiseWithResolvers {
  promise: Promise<void>
  resolve(): void
  reject(error: Error): void
}

function createPromise(): PromiseWithResolvers {
  let ends: Omit<PromiseWithResolvers, 'promise'> | null = null
  const promise = new Promise<void>((resolve, reject) => {
    ends = { resolve, reject }
  })
  return { promise, ...(ends as unknown as Omit<PromiseWithResolvers, 'promise'>) }
}

/** Waits until all that can go on without a sync has ended. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

const timeout = (time: string) => ({ timeout: { time } })

it('answers no write and no query before the changes are durable', async () => {
  const syncs = new Syncs()
  const service = createWorld({ dataFile, sync: syncs.sync })
  const answered: string[] = []
  const note = (name: string) => () => void answered.push(name)
  const write = service.write(timeout('10'), 'a.example.com').then(note('write'))
  await settle()
  const state = service.state().then(note('state'))
  const query = service.query('/v2/cache/prefetch', { task_id: '1' }).then(note('query'))
  await settle()
  expect([answered, syncs.open.length]).toEqual([[], 1])
  syncs.open[0]?.resolve()
  await Promise.all([write, state, query])
  expect(answered).toHaveLength(3)
})

it('shares one sync among the writes that wait for the one before', async () => {
  const syncs = new Syncs()
  const service = createWorld({ dataFile, sync: syncs.sync })
  const first = service.write(timeout('10'), 'a.example.com')
  await settle()
  const later = ['b', 'c', 'd'].map((name) => service.write(timeout('11'), `${name}.example.com`))
  await settle()
  expect(syncs.open).toHaveLength(1)
  syncs.open[0]?.resolve()
  await first
  await settle()
  expect(syncs.open).toHaveLength(2)
  // The second sync began when the file had all four.
  expect(syncs.sizes[1]).toBe(statSync(dataFile).size)
  syncs.open[1]?.resolve()
  expect((await Promise.all(later)).map(({ status }) => status)).toEqual([200, 200, 200])
})

it('answers only errors after a failed sync, until it is started again', async () => {
  const syncs = new Syncs()
  const service = createWorld({ dataFile, sync: syncs.sync })
  const write = service.write(timeout('10'), 'a.example.com')
  await settle()
  const state = service.request({ method: 'GET', path: '/_emulator/state' })
  await settle()
  syncs.open[0]?.reject(new Error('EIO: i/o error'))
  const failed = {
    status: 500,
    body: { message: expect.stringContaining('could not be made durable: EIO') as string },
  }
  expect(await write).toMatchObject(failed)
  expect(await state).toMatchObject(failed)
  expect(await service.write(timeout('11'), 'b.example.com')).toMatchObject(failed)
  expect(await service.request({ method: 'GET', path: '/_emulator/state' })).toMatchObject(failed)
  // What was not synced may be there, or not; here it is.
  expect(await createWorld({ dataFile }).state()).toEqual({ 'a.example.com': timeout('10') })
})

it('keeps a file open that it replaces during a sync', async () => {
  const syncs = new Syncs()
  const service = createWorld({ dataFile, sync: syncs.sync })
  const write = service.write(timeout('10'), 'a.example.com')
  await settle()
  // The other name keeps the system from giving the number of the file to the next one.
  linkSync(dataFile, join(folder, 'other'))
  rmSync(dataFile)
  const second = service.write(timeout('11'), 'b.example.com')
  await settle()
  const [first] = syncs.files
  expect(fstatSync(first?.handle ?? -1).ino).toBe(first?.inode)
  for (const { resolve } of syncs.open) resolve()
  await write
  await settle()
  for (const { resolve } of syncs.open) resolve()
  expect((await second).status).toBe(200)
  expect(await createWorld({ dataFile }).state()).toEqual({
    'a.example.com': timeout('10'),
    'b.example.com': timeout('11'),
  })
})
