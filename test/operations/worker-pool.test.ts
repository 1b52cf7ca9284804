// @module-tag often
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import { MessageChannel, setEnvironmentData, Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import {
  createWorkerPool,
  type Batch,
  type BatchResult,
} from '../../src/operations/runtime/worker-pool.ts'
import { loadPlainFiles } from '../../src/manifest/manifests/load-documents.ts'
import type { Grouping } from '../../src/core/model/config.ts'
import { searchCover, growFromSeed } from '../../src/core/plan/cover/search-cover.ts'
import type { CoverProblem } from '../../src/core/plan/cover/cover-problem.ts'
import { buildObviousCover } from '../../src/core/plan/cover/obvious-covers.ts'
import { serial, type Parallel, type TaskKind } from '../../src/core/model/parallel.ts'
import { buildGroupProblems, groupWrites } from '../../src/core/plan/group-writes.ts'
import type { Need } from '../../src/core/plan/needs.ts'
import { families } from '../plan/fleet-mixes.ts'
import { append, need, replace } from '../plan/problems.ts'
import { itOften, long } from '../runs.ts'

const examples = fileURLToPath(new URL('../../examples/storefront', import.meta.url))
const builtWorker = new URL('../../dist/runtime/worker.cjs', import.meta.url)

/** Builds the needs of a fleet; every other domain also adds entries to a list. */
function listNeeds(family: string, domains: number): Need[] {
  const entries = ['192.0.2.1', '192.0.2.2', '192.0.2.3']
  return (families[family]?.(domains, 5) ?? []).flatMap((own, i) => [
    ...own.map(([item, value]) => need(i, item, replace(value))),
    ...(i % 2 === 0 ? [need(i, 'ip_black_list', replace(i), append(...entries.slice(i % 3)))] : []),
  ])
}

function buildProblem(family: string, domains: number): CoverProblem {
  const needs = listNeeds(family, domains)
  const [first] = buildGroupProblems(needs, { groups: 'all', together: [] }, 10)
  if (first === undefined) throw new Error('expected a problem')
  return first.problem
}

/** Runs a function with a pool that waits 50 ms for a result, and ends the pool. */
async function withThreads<T>(
  threads: number,
  run: (parallel: Parallel) => T,
  file = builtWorker,
): Promise<T> {
  const pool = createWorkerPool(threads, file, 50)
  try {
    return run(pool)
  } finally {
    await pool.end()
  }
}

/** Writes a worker that takes a task, sets `taken` for this thread, and then does something. */
function writeWorker(then: string): { file: URL; taken: Int32Array } {
  const path = join(mkdtempSync(join(tmpdir(), 'edgewise-worker-')), 'worker.mjs')
  const taken = new Int32Array(new SharedArrayBuffer(4))
  setEnvironmentData('taken', taken)
  writeFileSync(
    path,
    `import { serialize } from 'node:v8'
    import { getEnvironmentData, workerData } from 'node:worker_threads'
    const { port, delivered } = workerData
    const taken = getEnvironmentData('taken')
    port.on('message', ({ number, next }) => {
      const index = Atomics.add(next, 0, 1)
      Atomics.store(taken, 0, 1)
      Atomics.notify(taken, 0)
      ${then}
    })`,
  )
  return { file: pathToFileURL(path), taken }
}

/** Creates a kind whose first task in this thread waits until a worker has taken another one. */
function createWaitingKind(taken: Int32Array): TaskKind<number, string> {
  return {
    name: 'waiting',
    minBytes: 1,
    run: (task) => {
      expect(Atomics.wait(taken, 0, 0, 30_000)).not.toBe('timed-out')
      return `task ${task}, this thread`
    },
  }
}

describe('a pool of threads', () => {
  it('returns the results of all threads in the order of the tasks', async () => {
    const { file, taken } = writeWorker(`
      port.postMessage({ batch: number, index, result: serialize('worker') })
      Atomics.add(delivered, 0, 1)
      Atomics.notify(delivered, 0)`)
    const results = await withThreads(
      1,
      (parallel) => parallel.run(createWaitingKind(taken), [0, 1, 2, 3]),
      file,
    )
    expect(results.filter((result) => result === 'worker')).toHaveLength(1)
    for (const [i, result] of results.entries())
      expect(['worker', `task ${i}, this thread`]).toContain(result)
  })

  it.each([
    ['crashes', 'throw new Error("out of memory")'],
    ['delivers nothing', ''],
  ])('runs the tasks of a worker that %s itself', async (_, then) => {
    const { file, taken } = writeWorker(then)
    const seen: number[] = []
    const results = await withThreads(
      1,
      (parallel) =>
        parallel.run(createWaitingKind(taken), [0, 1], {
          progress: (made, all) => seen.push(made / all),
        }),
      file,
    )
    expect(results).toEqual(['task 0, this thread', 'task 1, this thread'])
    expect(seen.at(-1)).toBe(1)
  })

  it('assumes that a task of a worker is as far as that of this thread', async () => {
    const { file, taken } = writeWorker(`
      port.postMessage({ batch: number, index, result: serialize('worker') })
      Atomics.add(delivered, 0, 1)
      Atomics.notify(delivered, 0)`)
    const waiting = createWaitingKind(taken)
    const kind: TaskKind<number, string> = {
      ...waiting,
      run: (task, context) => {
        const result = waiting.run(task, context)
        context.progress(8, 10)
        return result
      },
    }
    const seen: number[] = []
    await withThreads(
      1,
      (parallel) => parallel.run(kind, [0, 1], { progress: (made, all) => seen.push(made / all) }),
      file,
    )
    expect(seen[0]).toBe(0.8)
  })

  it.each([
    ['does not exist', pathToFileURL(join(tmpdir(), 'missing', 'worker.js'))],
    ['Node refuses to start', new URL('https://example.com/worker.js')],
  ])('runs all tasks itself if the worker %s', async (_, file) => {
    const kind: TaskKind<number, number> = { name: 'double', minBytes: 1, run: (task) => 2 * task }
    expect(await withThreads(2, (parallel) => parallel.run(kind, [1, 2, 3]), file)).toEqual([
      2, 4, 6,
    ])
  })

  it('starts no thread for small tasks', async () => {
    const { file, taken } = writeWorker('')
    const kind: TaskKind<number, number> = { name: 'small', minBytes: 1e3, run: (task) => task }
    await withThreads(2, (parallel) => parallel.run(kind, [1, 2, 3]), file)
    expect(taken[0]).toBe(0)
  })
})

it.each<[TaskKind<never, unknown>, unknown]>([
  [growFromSeed, { problem: buildProblem('layered', 40), minGainShare: 1, seed: 3 }],
  [loadPlainFiles, { root: examples, paths: ['profiles/secure.yaml', 'README.md', 'missing'] }],
])('the built worker returns the result of a task %#', async (kind, task) => {
  const bytes = serialize(task)
  const shared = new SharedArrayBuffer(bytes.byteLength)
  new Uint8Array(shared).set(bytes)
  const { port1, port2 } = new MessageChannel()
  const delivered = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(builtWorker, {
    workerData: { port: port2, delivered },
    transferList: [port2],
  })
  const batch: Batch = {
    number: 7,
    kind: kind.name,
    withSolver: true,
    tasks: [shared],
    next: new Int32Array(new SharedArrayBuffer(4)),
  }
  port1.postMessage(batch)
  const [message] = (await once(port1, 'message')) as [BatchResult]
  expect({ ...message, result: deserialize(message.result) as unknown }).toEqual({
    batch: 7,
    index: 0,
    result: serial.run(kind, [task as never])[0],
  })
  // The message may arrive before the count.
  Atomics.wait(delivered, 0, 0, 30_000)
  expect(delivered[0]).toBe(1)
  await worker.terminate()
})

itOften('a large cover is the same with any number of threads', async () => {
  const problem = buildProblem('layered', 150)
  const effort = {
    starts: 5,
    minGainShare: 0.9,
    firstBound: { rounds: 1, sets: 10_000 },
    search: { stepsPerRectangle: 10, stepsPerPair: 10, maxSteps: 300, patience: 100 },
  }
  const covers: unknown[] = []
  for (const threads of long ? [0, 1, 2, 8] : [0, 2]) {
    covers.push(
      await withThreads(threads, (parallel) =>
        searchCover(problem, buildObviousCover(problem), 1, effort, parallel),
      ),
    )
  }
  for (const cover of covers) expect(cover).toEqual(covers[0])
})

const groupings: [string, Grouping][] = [
  ['of several groups', { groups: 'documented', together: [] }],
  ['with items that belong together', { groups: 'all', together: [['https', 'origin']] }],
]
it.each(groupings)(
  'a plan %s is the same with a thread, for any order of its needs',
  async (_, grouping) => {
    const needs = listNeeds('tenants', 80)
    const plan = (own: Need[], parallel?: Parallel) =>
      groupWrites({
        needs: own,
        grouping,
        domainsPerWrite: 10,
        effort: 'quick',
        solver: null,
        ...(parallel === undefined ? {} : { parallel }),
      })
    const alone = plan(needs)
    expect(new Set(alone.writes.flatMap(({ items }) => Object.keys(items))).size).toBeGreaterThan(3)
    expect(await withThreads(1, (parallel) => plan(needs.toReversed(), parallel))).toEqual(alone)
  },
)
