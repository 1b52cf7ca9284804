/** The program of one worker: simulates every so-manieth seed and tells what came of each. */
import { parentPort, workerData } from 'node:worker_threads'
import { simulate } from './simulate.ts'

/** The seeds of one worker: `from`, `from + step`, … below `end`. */
export interface SeedRange {
  from: number
  step: number
  end: number
}

export interface SeedResult {
  seed: number
  violations: string[]
  counts: Map<string, number>
}

process.setSourceMapsEnabled(true)
const { from, step, end } = workerData as SeedRange
for (let seed = from; seed < end; seed += step) {
  const { violations, counts } = await simulate(seed)
  const result: SeedResult = { seed, violations, counts }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has none
  parentPort?.postMessage(result)
}
