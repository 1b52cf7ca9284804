import { createServerMetrics } from '../../src/metrics/server-metrics.ts'
import { EdgewiseError } from '../../src/model/edgewise-error.ts'
import type { ListedRollout } from '../../src/model/listed-rollout.ts'
import type { Engine } from '../../src/server/engine.ts'
import type { Failure } from '../../src/server/notifications.ts'
import { createLogger } from '../../src/server/logger.ts'
import { createReconciler } from '../../src/server/reconciler.ts'
import type { Runs } from '../../src/server/runs.ts'

/** What the operations of a reconciler do. */
interface Behaviour {
  apply?(commit: string): Promise<{ status: string; stopped?: string | null }>
  advance?(id: string): Promise<{ waitMs: number | null; status: string }>
  /** @param running number of watched pieces of work */
  drift?(running: number): { pending: number; live: number; inDoubt: number }
  fetch?(): Promise<string>
  /** Loads a commit; throws what is wrong with it. */
  load?(commit: string): void
}

/** Creates a reconciler of a branch whose tip, clock and operations the test controls. */
export function stageReconciler(does: Behaviour = {}) {
  const world = {
    tip: 'a'.repeat(40),
    nowMs: 0,
    applied: [] as string[],
    log: [] as string[],
    rollouts: [] as ListedRollout[],
    /** Open workflows of the database, and those that the reconciler has started. */
    open: [] as string[],
    started: [] as string[],
    running: 0,
    /** Commits that steps of rollouts and drift checks went by. */
    heads: [] as string[],
    /** Commits and rollouts that were reported as failed, each with the good commit. */
    reported: [] as string[][],
  }
  const clock = {
    now: () => world.nowMs,
    monotonic: () => world.nowMs,
    sleep: () => Promise.resolve(),
  }
  const logger = createLogger({
    clock,
    out: (line) => void world.log.push(line),
    format: 'json',
    level: 'info',
  })
  const metrics = createServerMetrics({ workspace: 'w', account: 'a' })
  const config = { id: 'w', serve: { drift: { schedule: null } } }
  const load = async (commit: string) => {
    does.load?.(commit)
    return { commit, config, diagnostics: [] }
  }
  const runs = {
    load,
    apply: async ({ commit }: { commit: string }) => {
      world.applied.push(commit)
      const { status, stopped = null } = (await does.apply?.(commit)) ?? { status: 'done' }
      return { status, message: stopped }
    },
    advance: (id: string, { commit }: { commit: string }) => {
      world.heads.push(commit)
      return does.advance?.(id) ?? Promise.resolve({ waitMs: null, status: 'done' })
    },
    compare: async ({ commit }: { commit: string }) => {
      world.heads.push(commit)
      const found = does.drift?.(world.running) ?? { pending: 0, live: 0, inDoubt: 0 }
      return { held: 0, unanswered: 0, ...found }
    },
    reportFailure: async ({ commit }: { commit: string }, { kind, id }: Failure) =>
      void world.reported.push([commit, ...(kind === 'commit' ? [] : [kind]), id]),
    deliver: () => Promise.resolve(),
    report: (_what: string, error: unknown) => (error instanceof Error ? error.message : ''),
  }
  const branch = {
    fetch: () => does.fetch?.() ?? Promise.resolve(world.tip),
    isAncestor: () => Promise.resolve(true),
    keepOnly: () => Promise.resolve(),
  }
  const engine: Engine = {
    start: async (_name, id) => {
      world.started.push(id)
      world.open.push(id)
    },
    listOpen: async () => [...world.open],
    schedule: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
  const reconciler = createReconciler({
    outside: { clock, newId: () => 'id' },
    branch,
    head: null,
    runs: runs as unknown as Runs,
    metrics,
    logger,
    listRollouts: () => Promise.resolve(world.rollouts),
    watch: async (work) => {
      world.running++
      try {
        return await work()
      } finally {
        world.running--
      }
    },
    isLeading: () => Promise.resolve(true),
  })
  return { world, reconciler, logger, metrics, round: () => reconciler.round(engine) }
}

/** Refuses each apply. */
export const refuse = () => Promise.reject(new EdgewiseError('guarded', 'a guard refuses it'))
