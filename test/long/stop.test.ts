// @module-tag often
// @module-tag nightly
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { StoreName } from '../../src/core/model/config.ts'
import { storeRows } from '../../src/core/model/stores.ts'
import { runProgram } from '../program.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { TestSchema } from '../state/test-schema.ts'
import { fetchWrites, Place, setFaults, token } from '../steps/cli.ts'
import { emulator, setStage } from '../steps/stage.ts'

/** Time within which a stop holds for every runner, as the command says, ms. */
const promised: Record<StoreName, number> = { dir: 2000, postgres: 2000, git: 5000 }
const writes = 300

setStage()
let folder = ''
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-stop-'))
  await setFaults(emulator, { kind: 'delay', ms: 100 })
})
afterEach(async () => {
  await setFaults(emulator)
  rmSync(folder, { recursive: true, force: true })
})

/** Creates a runner of the account: a workspace of its own with many writes. */
function createRunner(name: string, { home, state, env }: Stored): Place {
  const limits = '{callsPerMinute: 100000, domainsPerWrite: 1}'
  const root = join(home, name)
  const runner = new Place(emulator.url, `id: ${name}\n`, { root, state, limits })
  runner.env = { ...env, EDGEWISE_TOKEN: token, XDG_STATE_HOME: join(folder, 'user') }
  for (let i = 0; i < writes; i++)
    runner.manifest(`d${i}.${name}.example.com`, { timeout: { time: 5 + (i % 295) } })
  return runner
}

/** Where runners keep their state, and the folder of their workspaces. */
interface Stored {
  home: string
  state: string
  env: Place['env']
}

async function configureStore(store: StoreName): Promise<Stored> {
  if (store === 'dir')
    return { home: folder, state: `state: {store: dir, path: ${join(folder, 'state')}}`, env: {} }
  if (store === 'git') {
    const sandbox = new GitSandbox()
    onTestFinished(() => sandbox.remove())
    await sandbox.withRemote('remote.git', 'one', 'two', 'three')
    return { home: sandbox.folder, state: '', env: sandbox.env }
  }
  const schema = await TestSchema.make()
  onTestFinished(() => schema.remove())
  const { url } = schema.configure((address) => address.searchParams.delete('application_name'))
  const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`
  return { home: folder, state, env: { DATABASE_URL: url } }
}

const stores = storeRows.map(([name]) => name)

it.each(stores)('a stop in %s ends the writes of three runners', async (store) => {
  const promisedMs = promised[store]
  const stored = await configureStore(store)
  const runners = ['one', 'two', 'three'].map((name) => createRunner(name, stored))
  const [first] = runners
  if (first === undefined) throw new Error('expected a runner')
  const apply = (runner: Place) => runProgram(runner, 'apply', '--yes', '--lock-timeout', '60')
  let isEnded = false
  const applying = Promise.all(runners.map(apply)).finally(() => (isEnded = true))
  // A folder has one lock for the account: one runner sends, and the others wait for it.
  const sending = store === 'postgres' ? 3 : 1
  for (let seen = 0; seen < sending && !isEnded; await sleep(20)) {
    const paths = (await fetchWrites(emulator)).flatMap(({ domains }) => domains)
    seen = new Set(paths.map((domain) => domain.split('.')[1])).size
  }
  const stopped = await runProgram(first, 'rollout', 'stop', '--all')
  const stoppedAt = Date.now()
  expect(stopped).toMatchObject({
    code: 0,
    out: expect.stringContaining(
      store === 'git' ? 'look every 5 s' : 'No call leaves later than 2 s from now',
    ),
  })
  const ended = await applying
  await sleep(promisedMs)
  const sent = await fetchWrites(emulator)
  const late = sent.map(({ time }) => time - stoppedAt).filter((ms) => ms > promisedMs)
  expect(late).toEqual([])
  expect(sent.length).toBeLessThan(3 * writes)
  // Those that had sent something exit with 3; those that waited for the lock, with 1.
  expect(ended.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual(
    sending === 3 ? [3, 3, 3] : [1, 1, 3],
  )
  for (const { out, err } of ended) expect(out + err).toMatch(/were\s+stopped\s+by/)
  expect((await apply(first)).code).toBe(1)
  expect(await fetchWrites(emulator)).toHaveLength(sent.length)

  await setFaults(emulator)
  expect((await runProgram(first, 'rollout', 'resume', '--all')).code).toBe(0)
  expect((await runProgram(first, 'apply', '--yes', '--target', 'd299.*')).code).toBe(0)
  expect(await fetchWrites(emulator)).toHaveLength(sent.length + 1)
})
