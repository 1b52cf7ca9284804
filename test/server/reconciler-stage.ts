import { createServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { FoundStop, ListedRollout } from '../../src/core/model/listed-rollout.ts'
import type { Failure } from '../../src/server/notifications.ts'
import { createLogger } from '../../src/server/logger.ts'
import { Reconciler } from '../../src/server/leader/reconciler.ts'
import type { Runs } from '../../src/server/leader/runs.ts'
import type { Committed } from '../../src/server/branch/workspaces.ts'

/** What the operations of a reconciler do. */
interface Behaviour {
  apply?(commit: string): Promise<{ status: string; stopped?: string | null }>
  advance?(id: string): Promise<{ waitMs: number | null; status: string }>
  /** @param running number of watched pieces of work */
  drift?(running: number): { pending: number; live: number; inDoubt: number }
  /** Loads a commit; throws what is wrong with it. */
  load?(commit: string): void
  /** Counts traffic. */
  count?(): Promise<void>
  /** Called in each look at the rollouts. */
  look?(): void
}

/** Wait between two looks at the rollouts, ms. */
export const lookMs = 30_000

/** Creates a reconciler of a branch whose tip, clock and operations the test controls. */
export function stageReconciler(does: Behaviour = {}, schedule: string | null = null) {
  const world = {
    nowMs: 0,
    applied: [] as string[],
    log: [] as string[],
    rollouts: [] as ListedRollout[],
    running: 0,
    /** Rollouts whose steps were taken, and when, ms. */
    steps: [] as [string, number][],
    /** Commits that steps of rollouts and drift checks went by. */
    heads: [] as string[],
    /** Commits whose traffic was counted, and when, ms. */
    counted: [] as [string, number][],
    /** Commits and rollouts that were reported as failed. */
    reported: [] as string[][],
    isLeading: true,
    stop: null as FoundStop | null,
  }
  const time = createSteps(world)
  const { clock } = time
  const logger = createLogger({
    clock,
    out: (line) => void world.log.push(line),
    format: 'json',
    level: 'info',
  })
  const metrics = createServerMetrics({ workspace: 'w', account: 'a' })
  const config = { id: 'w', serve: { drift: { schedule } } }
  const create = (commit: string) => ({ commit, config, diagnostics: [] }) as unknown as Committed
  const runs = {
    load: async (commit: string) => {
      does.load?.(commit)
      return create(commit)
    },
    apply: async ({ commit }: { commit: string }) => {
      world.applied.push(commit)
      const { status, stopped = null } = (await does.apply?.(commit)) ?? { status: 'done' }
      return { status, message: stopped }
    },
    advance: async (id: string, _settings: unknown, loadHead: () => Promise<Committed>) => {
      world.steps.push([id, world.nowMs])
      world.heads.push((await loadHead()).commit)
      return (await does.advance?.(id)) ?? { waitMs: null, status: 'done' }
    },
    compare: async ({ commit }: { commit: string }) => {
      world.heads.push(commit)
      const found = does.drift?.(world.running) ?? { pending: 0, live: 0, inDoubt: 0 }
      return { held: 0, unanswered: 0, ...found }
    },
    reportFailure: async (_settings: unknown, { kind, id }: Failure) =>
      void world.reported.push([...(kind === 'commit' ? [] : [kind]), id]),
    countTraffic: async ({ commit }: { commit: string }) => {
      world.counted.push([commit, world.nowMs])
      await does.count?.()
    },
    deliver: () => Promise.resolve(),
    report: (_what: string, error: unknown) => (error instanceof Error ? error.message : ''),
  }
  const reconciler = new Reconciler({
    outside: { clock, signal: new AbortController().signal },
    runs: runs as unknown as Runs,
    first: create('a'.repeat(40)),
    lookMs,
    metrics,
    logger,
    listRollouts: async () => {
      does.look?.()
      return world.rollouts
    },
    findStop: async () => world.stop,
    watch: async (_kind, work) => {
      world.running++
      try {
        await work()
      } finally {
        world.running--
      }
    },
    isLeading: async () => world.isLeading,
  })
  let leading: Promise<void> | null = null
  /** Lets the leader work until a time, ms. */
  const runUntil = (ms: number) =>
    time.pass(ms, () => {
      leading ??= reconciler.lead()
    })
  return { world, reconciler, logger, metrics, runUntil }
}

/** Creates a clock whose sleeps pass at once, up to the time until which the test lets it run. */
function createSteps(world: { nowMs: number }) {
  let untilMs = 0
  let resume = () => {}
  let park = () => {}
  const clock = {
    now: () => world.nowMs,
    monotonic: () => world.nowMs,
    sleep: async (ms: number, signal?: AbortSignal) => {
      const dueMs = world.nowMs + ms
      while (dueMs > untilMs && signal?.aborted !== true) {
        world.nowMs = untilMs
        const resumed = new Promise<void>((resolve) => (resume = resolve))
        signal?.addEventListener('abort', resume, { once: true })
        park()
        await resumed
      }
      if (signal?.aborted !== true) world.nowMs = dueMs
    },
  }
  const pass = async (ms: number, begin: () => void): Promise<void> => {
    untilMs = ms
    const parked = new Promise<void>((resolve) => (park = resolve))
    begin()
    resume()
    await parked
  }
  return { clock, pass }
}

/** Refuses each apply. */
export const refuse = () => Promise.reject(new EdgewiseError('guarded', 'a guard refuses it'))
