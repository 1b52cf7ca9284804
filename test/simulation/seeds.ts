/** Program of one worker: simulates every nth seed and reports the results. */
import { parentPort, workerData } from 'node:worker_threads'
import { simulate } from './simulate.ts'
import type { StoreKind } from './state-world.ts'

/** Seeds of one worker: `from`, `from + step`, … below `end`. */
export interface SeedRange {
  from: number
  step: number
  end: number
  /** Kind of the store of all of them; absent: each seed determines its own. */
  store?: StoreKind
}

export interface SeedResult {
  seed: number
  violations: string[]
  counts: Map<string, number>
}

process.setSourceMapsEnabled(true)
const { from, step, end, store } = workerData as SeedRange
for (let seed = from; seed < end; seed += step) {
  const { violations, counts } = await simulate(seed, store)
  const result: SeedResult = { seed, violations, counts }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has none
  parentPort?.postMessage(result)
}
