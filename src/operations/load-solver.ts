import type { Solver } from '../plan/cover/dual-bound.ts'
import type { Outside } from './outside.ts'

let loading: Promise<Solver> | null = null

/**
 * Loads the solver of linear programmes, which proves how few writes a plan can have. Loaded on
 * demand and once for a process: it is large.
 */
export function loadSolver(): Promise<Solver> {
  loading ??= load()
  return loading
}

async function load(): Promise<Solver> {
  // The package's types call its default export a namespace.
  const highs = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return highs.default()
}

/** Returns the solver that the outside offers, or else loads one. */
export async function resolveSolver({ solver }: Outside): Promise<Solver | null> {
  return solver === undefined ? loadSolver() : solver
}
