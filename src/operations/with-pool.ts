import type { Parallel } from '../model/parallel.ts'
import type { Outside } from './outside.ts'

/** Runs a function with a pool of threads, and ends the threads. */
export async function withPool<T>(
  { createPool }: Outside,
  run: (parallel?: Parallel) => T,
): Promise<T> {
  const pool = createPool?.()
  try {
    return run(pool)
  } finally {
    await pool?.end()
  }
}
