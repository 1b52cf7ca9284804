/**
 * Measures the chained history: what appending costs an apply, how long verifying takes, and what
 * the digest of a plan costs.
 */
import { randomUUID } from 'node:crypto'
import type { Plan } from '../../src/core/model/plan.ts'
import { hashJson } from '../../src/core/plan/basis.ts'
import { buildPlanBody } from '../../src/outlets/report/plan/json.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { verifyChain } from '../../src/state/format/verify-chain.ts'
import type { OpenState } from '../../src/state/store/store-opener.ts'
import type { RecordedState, Store } from '../../src/state/store/store.ts'
import { startOwnPostgres, startPostgres } from '../../test/postgres-server.ts'
import { acquireAccount } from '../../test/state/contender.ts'
import { GitSandbox } from '../../test/state/git-sandbox.ts'
import { buildApplied, buildWave, recordedAt } from '../../test/state/store-contract.ts'
import { buildState, openBenchState } from './measure-state.ts'
import { findMedian } from './measure.ts'
import { compareFigures, createRow, type Row } from './row.ts'

const [rounds, writes, entries] = [50, 30, 5000]
/** Domains of a large fleet, of a full write, and writes of a batch. */
const [fleet, perWrite, perBatch] = [10_000, 10, 200]
const names = ['plain', 'chained'] as const

type Kind = keyof typeof kinds
const kinds = { dir: 'in a folder', git: 'in git', postgres: 'in PostgreSQL' }

/** Measures each kind of store, the database of `DATABASE_URL` or a durable one of its own. */
export async function measureHistory(): Promise<Row[]> {
  const { DATABASE_URL: url = '' } = process.env
  const { served, stop } = url === '' ? await startOwnPostgres(true) : await startPostgres()
  if ('failure' in served) throw new Error(served.failure)
  const rows: Row[] = []
  try {
    for (const kind of Object.keys(kinds) as Kind[]) {
      const sandbox = new GitSandbox()
      try {
        await sandbox.repository('alone')
        const schema = `bench_${randomUUID().replaceAll('-', '')}`
        const open = () => openBenchState(sandbox, kind, realDisk, { url: served.url, schema })
        rows.push(await measureAppend(open, kind), await measureVerify(open, kind))
        rows.push(await measureDigest(open, kind))
      } finally {
        sandbox.remove()
      }
    }
  } finally {
    await stop()
  }
  return rows
}

type Open = () => Promise<OpenState>

/**
 * Compares the recording of applies with their entries, and without them, in turn. Only the end of
 * an apply differs, so only the ends are compared: the rest varies by more than an entry costs.
 */
async function measureAppend(open: Open, kind: Kind): Promise<Row> {
  const times = { plain: [] as RecordTime[], chained: [] as RecordTime[] }
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const opened = await open()
      const { store } = opened
      if (name === 'plain') store.chain.append = (_notes, guard, write) => write(new Map(), guard)
      const lease = await acquireAccount(opened, 'bench')
      await store.load()
      times[name].push(await recordApply(store, `${name}-${round}`))
      await lease.release()
    }
  const what = `record an apply of ${writes} writes with its entry, ${kinds[kind]}`
  const plain = findMedian(times.plain.map(({ seconds }) => seconds))
  // The rounds have other loads; the two of a round have about the same.
  const more = findMedian(times.chained.map(({ end }, i) => end - (times.plain[i]?.end ?? 0)))
  return compareFigures(`history-append-${kind}`, what, plain + more, plain, 1.05, 's')
}

/** Time to record an apply, and that of its end, s. */
interface RecordTime {
  seconds: number
  end: number
}

async function recordApply(store: Store, id: string): Promise<RecordTime> {
  const before = buildState(writes)
  const from = performance.now()
  await store.recordIntents(buildApplied(id), buildWave(id, before))
  for (const [i, domain] of [...before].entries())
    await store.recordOutcomes(buildApplied(id), [i + 1], new Map([domain]))
  const ending = performance.now()
  await store.endApply(buildApplied(id, { endedAt: recordedAt, outcome: 'complete' }))
  await store.checkpoint?.()
  const to = performance.now()
  return { seconds: (to - from) / 1000, end: (to - ending) / 1000 }
}

async function measureVerify(open: Open, kind: Kind): Promise<Row> {
  const { store } = await open()
  await store.load()
  const by = { name: 'bench', knownBy: 'unidentified' } as const
  const note = { at: recordedAt, by, commit: null, plan: null, reason: null, outcome: 'done' }
  for (let i = rounds; i < entries; i++)
    store.chain.add({ ...note, kind: 'import', about: `domain ${i}` })
  await store.save(buildState(1), 'bench')
  const other = await open()
  const from = performance.now()
  const chain = await other.store.chain.load()
  const { findings, entries: count } = verifyChain(chain, { head: null, verifies: null })
  const seconds = (performance.now() - from) / 1000
  if (findings.length > 0 || count !== entries) throw new Error(`expected ${entries} entries`)
  const what = `verify ${entries} entries ${kinds[kind]}`
  return createRow(`history-verify-${kind}`, what, 's', seconds, 2)
}

/** Compares the digest of a plan for a large fleet with the recording of its apply. */
async function measureDigest(open: Open, kind: Kind): Promise<Row> {
  const state = buildState(fleet)
  const plan = buildFleetPlan([...state.keys()])
  const digests = Array.from({ length: 5 }, () => {
    const from = performance.now()
    hashJson(buildPlanBody(plan, (item) => item))
    return (performance.now() - from) / 1000
  })
  const opened = await open()
  const lease = await acquireAccount(opened, 'bench')
  await opened.store.load()
  const record = await recordFleet(opened.store, state)
  await lease.release()
  const what = `digest of a plan of ${fleet} domains, beside recording its apply ${kinds[kind]}`
  return {
    ...createRow(`history-digest-${kind}`, what, 's', findMedian(digests), 0.05),
    base: record,
    ratio: findMedian(digests) / record,
  }
}

/** Builds the plan that changes an item of each domain, in full writes. */
function buildFleetPlan(domains: string[]): Pick<Plan, 'changes' | 'writes'> {
  const [before, after] = [{ time: '60' }, { time: '61' }]
  const items = { timeout: { name: 'whole', payload: after } }
  return {
    changes: domains.map((domain) => ({
      domain,
      item: 'timeout',
      action: 'change',
      reason: 'differs',
      before,
      after,
      patch: [{ op: 'replace', path: '/time', value: '61' }],
    })),
    writes: cut(domains, perWrite).map((some, i) => ({ id: i + 1, wave: 0, domains: some, items })),
  } as Pick<Plan, 'changes' | 'writes'>
}

/** Records the apply of that plan, as an apply does; returns the seconds. */
async function recordFleet(store: Store, state: RecordedState): Promise<number> {
  const from = performance.now()
  const all = cut([...state], perWrite).map((some) => new Map(some))
  for (const [i, batch] of cut(all, perBatch).entries()) {
    const before = new Map(batch.flatMap((some) => [...some]))
    const { intents: single, ...others } = buildWave('fleet', before, i + 1)
    const each = cut([...single.values()], perWrite)
    const intents = new Map(
      each.map((some, k) => [i * perBatch + k + 1, new Map(some.flatMap((one) => [...one]))]),
    )
    await store.recordIntents(buildApplied('fleet'), { ...others, intents })
    for (const [k, some] of batch.entries())
      await store.recordOutcomes(buildApplied('fleet'), [i * perBatch + k + 1], some)
  }
  await store.endApply(buildApplied('fleet', { endedAt: recordedAt, outcome: 'complete' }))
  await store.checkpoint?.()
  return (performance.now() - from) / 1000
}

function cut<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  )
}
