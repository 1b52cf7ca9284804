import type { Solver } from '../plan/cover/dual-bound.ts'
import type { Outside } from './outside.ts'

/**
 * Loads the LP solver, which proves a lower bound on the writes of a plan. Loaded on demand: it is
 * large.
 */
export async function loadSolver(): Promise<Solver> {
  // The package's types declare its default export as a namespace.
  const { default: load } = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return load()
}

/** Returns the outside's solver; loads one if it is undefined. */
export async function resolveSolver({ solver }: Outside): Promise<Solver | null> {
  return solver === undefined ? loadSolver() : solver
}
