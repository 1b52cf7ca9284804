/**
 * Measures the three stores side by side at 1,000, 10,000 and 100,000 domains, or at those of
 * --sizes 1000,5000: saving and loading all state, recording the outcome of a write, loading the
 * history of one domain after two applies to all, and loading the state of another workspace of
 * 1,000 domains in the same store, with the owners of its domains. PostgreSQL is that of
 * DATABASE_URL, or one that is started here. Exits with 1 if a figure misses its goal.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../test/postgres-server.ts'
import { acquireAccount } from '../test/state/contender.ts'
import { GitSandbox } from '../test/state/git-sandbox.ts'
import { buildApplied, buildDomain, buildItem, buildWave } from '../test/state/store-contract.ts'
import type { DatabaseConfig, StateConfig } from '../src/model/config.ts'
import { realDisk } from '../src/state/folder/real-disk.ts'
import { openState, type OpenState } from '../src/state/open-state.ts'
import { openDatabase } from '../src/state/postgres/open-database.ts'
import { buildState } from './bench/measure-state.ts'

type Kind = 'git' | 'dir' | 'postgres'

/** Domains of a workspace. */
const ofWorkspace = 1000
const outcomes = 100
/** Domains of a batch of writes. */
const ofWave = 1000
/** Goal of loading a workspace from a database, seconds. */
const maxLoad = 1

const { values } = parseArgs({
  options: { sizes: { type: 'string', default: '1000,10000,100000' } },
})
const { served, stop } = await startPostgres(true)
if ('failure' in served) throw new Error(served.failure)
const { url } = served
const context = {
  clock: {
    monotonic: () => performance.now(),
    sleep: (ms: number) => sleep(ms),
  },
  signal: new AbortController().signal,
}
console.log('| domains | seconds to | git | folder | PostgreSQL |')
console.log('|---:|---|---:|---:|---:|')
try {
  for (const size of values.sizes.split(',').map(Number)) {
    const git = await measure('git', size)
    const folder = await measure('dir', size)
    const database = await measure('postgres', size)
    for (const [work, seconds] of Object.entries(database)) {
      const cells = [git[work], folder[work], seconds].map((each = 0) => each.toPrecision(3))
      console.log(`| ${size} | ${work} | ${cells.join(' | ')} |`)
      if (work.startsWith('load another') && seconds > maxLoad) process.exitCode = 1
    }
  }
} finally {
  await stop()
}

/** Measures one store, seconds by the work. */
async function measure(kind: Kind, size: number): Promise<Record<string, number>> {
  const sandbox = new GitSandbox()
  const schema = `bench_${randomUUID().replaceAll('-', '')}`
  const open = (id: string) => openAt(kind, id, sandbox, { url, schema })
  const time = async (work: () => Promise<unknown>, count = 1) => {
    const from = performance.now()
    await work()
    return (performance.now() - from) / 1000 / count
  }
  try {
    await sandbox.repository('alone')
    const alone = await open('alone')
    await alone.store.load()
    const save = await time(() => saveAll(alone, buildState(size)))
    const load = await time(async () => (await open('alone')).store.load())
    const record = await measureRecord(await open('alone'), time)
    const small = [...buildState(ofWorkspace)].map(([name, items]) => [`x.${name}`, items] as const)
    await saveAll(await open('small'), new Map(small))
    const part = await time(async () => {
      const { store } = await open('small')
      const { size: found } = await store.load()
      if (found !== ofWorkspace) throw new Error(`got ${found} domains`)
      await store.findOwners(Array.from({ length: ofWorkspace }, (_, i) => `x.www${i}.example.com`))
    })
    await applyToAll(await open('alone'))
    const history = await time(async () => {
      const { applies } = await (await open('alone')).store.loadDomainHistory('www7.example.com')
      if (applies.length < 2) throw new Error(`got ${applies.length} applies`)
    })
    return {
      'save all': save,
      'load all': load,
      [`load another workspace of ${ofWorkspace}`]: part,
      'record an outcome': record,
      'history of one domain': history,
    }
  } finally {
    sandbox.remove()
    if (kind === 'postgres') await dropSchema(schema)
  }
}

async function saveAll(opened: OpenState, state: ReturnType<typeof buildState>): Promise<void> {
  const { store } = opened
  const lease = await acquireAccount(opened, 'bench')
  await store.load()
  await store.save(state, 'bench')
  await store.checkpoint?.()
  await lease.release()
}

async function measureRecord(
  opened: OpenState,
  time: (work: () => Promise<unknown>, count: number) => Promise<number>,
): Promise<number> {
  const { store } = opened
  const lease = await acquireAccount(opened, 'bench')
  const recorded = await store.load()
  const before = new Map([...recorded].slice(0, outcomes))
  const first = new Map(
    [...before].map(([name]) => [name, new Map([['timeout', buildItem('60')]])]),
  )
  await store.recordIntents(buildApplied('bench'), buildWave('bench', first))
  const names = [...before.keys()]
  const cost = await time(async () => {
    for (const [i, name] of names.entries())
      await store.recordOutcomes(
        buildApplied('bench'),
        [i + 1],
        buildDomain(name, { timeout: buildItem('99') }),
      )
  }, names.length)
  await lease.release()
  return cost
}

/** Records the intents of two applies that change all domains. */
async function applyToAll(opened: OpenState): Promise<void> {
  const { store } = opened
  const lease = await acquireAccount(opened, 'bench')
  const recorded = [...(await store.load())]
  for (const id of ['first', 'second']) {
    for (let i = 0; i < recorded.length; i += ofWave) {
      const wave = buildWave(id, new Map(recorded.slice(i, i + ofWave)), i / ofWave + 1)
      const intents = new Map([...wave.intents].map(([write, domains]) => [write + i, domains]))
      await store.recordIntents(buildApplied(id), { ...wave, intents })
    }
    await store.endApply(buildApplied(id, { outcome: 'complete' }))
  }
  await store.checkpoint?.()
  await lease.release()
}

function openAt(
  kind: Kind,
  id: string,
  sandbox: GitSandbox,
  database: DatabaseConfig,
): Promise<OpenState> {
  const root = join(sandbox.folder, 'alone')
  const state: StateConfig = {
    store: kind,
    branch: 'edgewise-state',
    remote: 'origin',
    path: join(root, 'state'),
    ...(kind === 'postgres' ? { database } : {}),
  }
  return openState(
    { root, id, address: 'https://api.example.net', account: 'default', state },
    {
      disk: realDisk,
      processName: id,
      openGit: () => sandbox.open('alone'),
      openDatabase: (config) => openDatabase(config, context),
    },
  )
}

async function dropSchema(schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`drop schema if exists ${schema} cascade`)
  await client.end()
}
