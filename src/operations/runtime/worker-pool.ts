import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import {
  ignoreProgress,
  joinProgress,
  serial,
  type Progress,
  type TaskContext,
  type TaskKind,
  type WorkerPool,
} from '../../core/model/parallel.ts'

/** Tasks of one kind for a worker, which takes the next one until none is left. */
export interface Batch {
  number: number
  kind: string
  /** Whether the tasks need the solver. */
  withSolver: boolean
  /** Serialized tasks. */
  tasks: SharedArrayBuffer[]
  /** Index of the next task, in its only element. */
  next: Int32Array
}

/** Serialized result of a task. */
export interface BatchResult {
  batch: number
  index: number
  result: Uint8Array
}

/** Data of the start of a worker. */
export interface WorkerStart {
  port: MessagePort
  /** Number of all results of all workers, in its only element. */
  delivered: Int32Array
}

const maxThreads = 8
/** Idle threads are ended after so long. */
const maxIdleMs = 5_000
/** Maximum wait for a result: so many times the longest task of this thread. */
const patience = 4

/** Counts the threads that can run tasks beside this one. */
export function countSpareThreads(): number {
  return Math.min(maxThreads, availableParallelism()) - 1
}

/**
 * Creates a pool of worker threads, which the first large batch starts. This thread runs tasks too,
 * then blocks until all results are delivered. If a worker crashes or can't start, this thread runs
 * its tasks: the result of a task is the same in every thread. Idle threads are ended, and started
 * again when they are needed.
 *
 * @param file the program of a worker
 * @param minWaitMs minimum wait for a result before this thread runs its task, ms
 */
export function createWorkerPool(
  threads: number,
  file: URL = workerFile,
  minWaitMs = 2_000,
): WorkerPool {
  const workers: { worker: Worker; port: MessagePort }[] = []
  const delivered = new Int32Array(new SharedArrayBuffer(4))
  let [batches, maxWorkers] = [0, threads]
  let idle: NodeJS.Timeout | undefined
  const end = async (): Promise<void> => {
    clearTimeout(idle)
    await Promise.all(workers.splice(0).map(({ worker }) => worker.terminate()))
  }
  const startWorkers = (count: number): void => {
    try {
      while (workers.length < Math.min(count, maxWorkers))
        workers.push(startWorker(file, delivered))
    } catch (error) {
      // Node may lack the permission to start threads.
      if (!(error instanceof Error && 'code' in error)) throw error
      maxWorkers = workers.length
    }
  }
  return {
    run: (kind, tasks, context = {}) => {
      const bytes = maxWorkers < 1 || tasks.length < 2 ? [] : tasks.map(encode)
      const size = bytes.reduce((sum, { byteLength }) => sum + byteLength, 0)
      if (bytes.length === 0 || size < kind.minBytes) return serial.run(kind, tasks, context)
      startWorkers(tasks.length - 1)
      const batch: Batch = {
        number: ++batches,
        kind: kind.name,
        withSolver: (context.solver ?? null) !== null,
        tasks: bytes,
        next: new Int32Array(new SharedArrayBuffer(4)),
      }
      const ports = workers.map(({ port }) => port)
      for (const port of ports) port.postMessage(batch)
      clearTimeout(idle)
      idle = setTimeout(() => void end(), maxIdleMs).unref()
      return runBatch(kind, tasks, context, batch, { ports, delivered, minWaitMs })
    },
    end,
  }
}

/** The program has the same relative path from the sources as from the built chunks. */
const workerFile = new URL(
  `../runtime/worker${extname(new URL(import.meta.url).pathname)}`,
  import.meta.url,
)

function encode(task: unknown): SharedArrayBuffer {
  const bytes = serialize(task)
  const shared = new SharedArrayBuffer(bytes.byteLength)
  new Uint8Array(shared).set(bytes)
  return shared
}

function startWorker(file: URL, delivered: Int32Array): { worker: Worker; port: MessagePort } {
  const { port1: port, port2 } = new MessageChannel()
  const workerData: WorkerStart = { port: port2, delivered }
  const worker = new Worker(file, { workerData, transferList: [port2] })
  // The plan is complete without the worker, so its failure is no error.
  worker.on('error', () => undefined)
  worker.unref()
  port.unref()
  return { worker, port }
}

/** Runs the tasks that are left for this thread, and collects those of the workers. */
function runBatch<Task, Result>(
  kind: TaskKind<Task, Result>,
  tasks: Task[],
  { solver = null, progress = ignoreProgress }: Partial<TaskContext>,
  { number, next }: Batch,
  {
    ports,
    delivered,
    minWaitMs,
  }: { ports: MessagePort[]; delivered: Int32Array; minWaitMs: number },
): Result[] {
  const results = new Map<number, Result>()
  let reported = 0
  // Tasks of workers are assumed to be as far as that of this thread, and may be less far.
  const report: Progress = (made, all) => {
    if (made / all < reported) return
    reported = made / all
    progress(made, all)
  }
  const add = (index: number, result: Result): void => {
    results.set(index, result)
    report(results.size, tasks.length)
  }
  let longestMs = 0
  const runHere = (index: number): void => {
    const started = performance.now()
    const result = kind.run(tasks[index] as Task, {
      solver,
      // A worker may take its task after this one has begun.
      progress: (made, all) => {
        const begun = Math.min(tasks.length, Atomics.load(next, 0))
        joinProgress(report, results.size, begun, tasks.length)(made, all)
      },
    })
    longestMs = Math.max(longestMs, performance.now() - started)
    add(index, result)
  }
  const collect = (): void => {
    for (const { batch, index, result } of ports.flatMap(receiveAll)) {
      if (batch === number) add(index, deserialize(result) as Result)
    }
  }
  for (let i = Atomics.add(next, 0, 1); i < tasks.length; i = Atomics.add(next, 0, 1)) {
    runHere(i)
    collect()
  }
  while (results.size < tasks.length) {
    const seen = Atomics.load(delivered, 0)
    collect()
    if (results.size === tasks.length) break
    const waitMs = Math.max(minWaitMs, patience * longestMs)
    if (Atomics.wait(delivered, 0, seen, waitMs) !== 'timed-out') continue
    runHere([...tasks.keys()].find((index) => !results.has(index)) ?? 0)
  }
  return tasks.map((_, index) => results.get(index) as Result)
}

function receiveAll(port: MessagePort): BatchResult[] {
  const received: BatchResult[] = []
  for (let each = receiveMessageOnPort(port); each; each = receiveMessageOnPort(port))
    received.push(each.message as BatchResult)
  return received
}
