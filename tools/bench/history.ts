/** Measures the chained history: what appending costs an apply, and how long verifying takes. */
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { verifyChain } from '../../src/state/format/verify-chain.ts'
import type { Store } from '../../src/state/store/store.ts'
import { acquireAccount } from '../../test/state/contender.ts'
import { GitSandbox } from '../../test/state/git-sandbox.ts'
import { buildApplied, buildWave, recordedAt } from '../../test/state/store-contract.ts'
import { buildState, openBenchState } from './measure-state.ts'
import { findMedian } from './measure.ts'
import { compareFigures, createRow, type Row } from './row.ts'

const [rounds, writes, entries] = [30, 30, 5000]
const names = ['plain', 'chained'] as const

/** Measures both in a folder and in git. */
export async function measureHistory(): Promise<Row[]> {
  const rows: Row[] = []
  for (const kind of ['dir', 'git'] as const) {
    const sandbox = new GitSandbox()
    try {
      await sandbox.repository('alone')
      rows.push(await measureAppend(sandbox, kind), await measureVerify(sandbox, kind))
    } finally {
      sandbox.remove()
    }
  }
  return rows
}

/** Compares the recording of applies with their entries, and without them, in turn. */
async function measureAppend(sandbox: GitSandbox, kind: 'dir' | 'git'): Promise<Row> {
  const times = { plain: [] as number[], chained: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const opened = await openBenchState(sandbox, kind, realDisk)
      const { store } = opened
      if (name === 'plain') store.chain.append = (_notes, guard, write) => write(new Map(), guard)
      const lease = await acquireAccount(opened, 'bench')
      await store.load()
      times[name].push(await recordApply(store, `${name}-${round}`))
      await lease.release()
    }
  const what = `record an apply of ${writes} writes with its entry, ${nameKind(kind)}`
  const [chained, plain] = [findMedian(times.chained), findMedian(times.plain)]
  // The rounds have other loads; the two of a round have about the same.
  const ratio = findMedian(times.chained.map((seconds, i) => seconds / (times.plain[i] ?? 0)))
  return { ...compareFigures(`history-append-${kind}`, what, chained, plain, 1.05, 's'), ratio }
}

/** Records an apply; returns the seconds. */
async function recordApply(store: Store, id: string): Promise<number> {
  const before = buildState(writes)
  const from = performance.now()
  await store.recordIntents(buildApplied(id), buildWave(id, before))
  for (const [i, domain] of [...before].entries())
    await store.recordOutcomes(buildApplied(id), [i + 1], new Map([domain]))
  await store.endApply(buildApplied(id, { endedAt: recordedAt, outcome: 'complete' }))
  await store.checkpoint?.()
  return (performance.now() - from) / 1000
}

async function measureVerify(sandbox: GitSandbox, kind: 'dir' | 'git'): Promise<Row> {
  const { store } = await openBenchState(sandbox, kind, realDisk)
  await store.load()
  const by = { name: 'bench', knownBy: 'unidentified' } as const
  const note = { at: recordedAt, by, commit: null, plan: null, reason: null, outcome: 'done' }
  for (let i = rounds; i < entries; i++)
    store.chain.add({ ...note, kind: 'import', about: `domain ${i}` })
  await store.save(buildState(1), 'bench')
  const other = await openBenchState(sandbox, kind, realDisk)
  const from = performance.now()
  const chain = await other.store.chain.load()
  const { findings, entries: count } = verifyChain(chain, { head: null, verifies: null })
  const seconds = (performance.now() - from) / 1000
  if (findings.length > 0 || count !== entries) throw new Error(`expected ${entries} entries`)
  const what = `verify ${entries} entries ${nameKind(kind)}`
  return createRow(`history-verify-${kind}`, what, 's', seconds, 2)
}

function nameKind(kind: 'dir' | 'git'): string {
  return kind === 'dir' ? 'in a folder' : 'in git'
}
