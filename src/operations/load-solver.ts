import type { Solver } from '../plan/cover/dual-bound.ts'
import type { Outside } from './outside.ts'

let loading: Promise<Solver> | null = null

/**
 * Loads the LP solver, which proves a lower bound on the writes of a plan. Loaded on demand and once
 * per process: it is large.
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

/** Returns the outside's solver; loads one if it is undefined. */
export async function resolveSolver({ solver }: Outside): Promise<Solver | null> {
  return solver === undefined ? loadSolver() : solver
}
