import type { Solver } from '../../core/model/parallel.ts'

/** Released when no plan uses it: its memory of 20 MB would last as long as the apply. */
let loaded: WeakRef<Promise<Solver>> | null = null

/**
 * Loads the LP solver, which proves a lower bound on the writes of a plan. It is large, so it is
 * loaded on demand, and once for plans at the same time.
 */
export function loadSolver(): Promise<Solver> {
  const loading = loaded?.deref() ?? load()
  loaded = new WeakRef(loading)
  return loading
}

async function load(): Promise<Solver> {
  // The package's types wrongly declare its default export as a namespace.
  const highs = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return highs.default()
}
