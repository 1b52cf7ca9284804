import type { BenchOptions } from './arguments.ts'
import type { Row } from './row.ts'
import type { Workbench } from './workbench.ts'

type Study = (bench: Workbench, options: BenchOptions) => Promise<Row[]>

/**
 * Groups that only `--only` measures. Each is loaded when it runs: some need a database, the worlds
 * of the tests, or minutes.
 */
export const studies: Record<string, Study> = {
  connections: async (bench) => (await import('./connections.ts')).measureConnections(bench),
  fleets: async (_bench, options) => (await import('./writes.ts')).measureFleets(options),
  health: async (_bench, options) => (await import('./health.ts')).measureHealth(options),
  history: async () => (await import('./history.ts')).measureHistory(),
  idle: async (bench, options) => (await import('./idle.ts')).measureIdle(bench, options),
  pages: async (bench, options) => (await import('./pages.ts')).measurePages(bench, options),
  peers: async (bench, options) =>
    (await import('./peers.ts')).measurePeers(bench, options, process.env),
  rollout: async (_bench, options) => (await import('./rollout.ts')).measureRollouts(options),
  shapes: async (_bench, options) =>
    (await import('./waves/measure-shapes.ts')).measureShapes(options, 'unseen'),
  'shapes-tuning': async (_bench, options) =>
    (await import('./waves/measure-shapes.ts')).measureShapes(options, 'tuning'),
  waves: async (_bench, options) => (await import('./waves/measure.ts')).measureWaves(options),
  writes: async () => (await import('./writes.ts')).measureMixes(),
}
