import type { Parallel } from '../model/parallel.ts'
import type { Outside } from './outside.ts'

/** Runs a function with the pool of threads, and ends the threads: they take much memory. */
export async function withPool<T>({ pool }: Outside, run: (parallel?: Parallel) => T): Promise<T> {
  try {
    return run(pool)
  } finally {
    await pool?.end()
  }
}
