/** Program of a worker thread: runs tasks of batches until the thread is terminated. */
import { deserialize, serialize } from 'node:v8'
import { workerData } from 'node:worker_threads'
import { ignoreProgress, type TaskKind } from '../../core/model/parallel.ts'
import { loadPlainFiles } from '../../manifest/manifests/load-documents.ts'
import { findSmallCover } from '../../core/plan/cover/find-cover.ts'
import { scaleToBound } from '../../core/plan/cover/price-bound.ts'
import { growFromSeed, searchFromCover } from '../../core/plan/cover/search-cover.ts'
import { loadSolver } from './load-solver.ts'
import type { Batch, BatchResult, WorkerStart } from './worker-pool.ts'

const { port, delivered } = workerData as WorkerStart

/** Messages between threads carry the names of these kinds. */
const kinds = [
  growFromSeed,
  searchFromCover,
  scaleToBound,
  findSmallCover,
  loadPlainFiles,
] as TaskKind<unknown, unknown>[]

port.on('message', (batch: Batch) => void runBatch(batch))

async function runBatch({ number, kind: name, withSolver, tasks, next }: Batch): Promise<void> {
  const kind = kinds.find((each) => each.name === name)
  if (kind === undefined) throw new TypeError(`expected a known kind of task, got "${name}"`)
  const context = { solver: withSolver ? await loadSolver() : null, progress: ignoreProgress }
  for (let i = Atomics.add(next, 0, 1); i < tasks.length; i = Atomics.add(next, 0, 1)) {
    const task: unknown = deserialize(new Uint8Array(tasks[i] ?? new SharedArrayBuffer(0)))
    const result: BatchResult = {
      batch: number,
      index: i,
      result: serialize(kind.run(task, context)),
    }
    port.postMessage(result)
    Atomics.add(delivered, 0, 1)
    Atomics.notify(delivered, 0)
  }
}
