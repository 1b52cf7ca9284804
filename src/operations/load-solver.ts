import type { Solver } from '../model/solver.ts'
import type { Outside } from './outside.ts'

let loading: Promise<Solver> | null = null

/**
 * Loads the LP solver, which proves a lower bound on the writes of a plan. It is large, so it is
 * loaded on demand, once per process.
 */
export function loadSolver(): Promise<Solver> {
  loading ??= load()
  return loading
}

async function load(): Promise<Solver> {
  // The package's types wrongly declare its default export as a namespace.
  const highs = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return highs.default()
}

/** Returns the given solver, which may be null; loads one if it is undefined. */
export async function resolveSolver({ solver }: Outside): Promise<Solver | null> {
  return solver === undefined ? loadSolver() : solver
}
