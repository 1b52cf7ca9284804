import type { Solver } from '../plan/cover/dual-bound.ts'
import type { Outside } from './outside.ts'

/**
 * Loads the solver of linear programmes, which proves how few writes a plan can have. It is large,
 * so only who needs it does.
 */
export async function loadSolver(): Promise<Solver> {
  // The package's types call its default export a namespace.
  const { default: load } = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return load()
}

/** Returns the solver that the outside offers, or else loads one. */
export async function resolveSolver({ solver }: Outside): Promise<Solver | null> {
  return solver === undefined ? loadSolver() : solver
}
