import type { ApplyResult } from '../apply/run.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { Rollout } from '../model/rollout.ts'
import { createTimeZone } from '../model/time-zone.ts'
import { inSpan } from '../model/tracing.ts'
import type { Applying, RolledBack, RolloutContext } from '../rollout/ports.ts'
import { queryCounts, querySeries } from '../rollout/query-counts.ts'
import { rollOut } from '../rollout/roll-out.ts'
import { continueRollout, createRollout } from '../rollout/wave-part.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import { ServiceLimits } from '../service/service-limits.ts'
import type { CallBudget } from '../service/write/call-budget.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { createApplyId, findAuthor, executePlan, type ExecuteOptions } from './execute-plan.ts'
import { rollbackSuffix } from './find-change.ts'
import { hashDesired } from './hash-desired.ts'
import { describeIrreversible } from './irreversible.ts'
import { runPreflight } from './preflight.ts'
import { resolveForSend } from './resolve-for-send.ts'
import type { SharedServiceTime } from './service-time.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'
import { planRollback, removeUnmanaged } from './plan-rollback.ts'
import type { Locked } from './with-lock.ts'
import { withQueries } from './with-queries.ts'

/** Options for running a rollout, whose lock may be released for a while. */
interface RolloutOptions extends Pick<ExecuteOptions, 'outside' | 'bisects'> {
  serviceTime: SharedServiceTime
  lock: Pick<Locked, 'lease' | 'lockedAt' | 'whileUnlocked'>
  /** The rollout that the plan continues; null for a new one. */
  continued: Rollout | null
  /** Whether the caller waits where the rollout has to. */
  suspends: boolean
  /** Throws if a wave may not begin now. */
  guard(): void
  report(event: ApplyEvent, budget: CallBudget | null): void
}

/** Returns whether a plan has several waves, a health check or a wave that needs approval. */
export function isRollout(
  { config }: LoadedWorkspace,
  plan: Plan,
  continued: Rollout | null,
): boolean {
  return (
    continued !== null ||
    plan.writes.some(({ wave }) => wave > 1) ||
    plan.approvals !== undefined ||
    (config.rollout.health !== null && plan.writes.length > 0)
  )
}

/**
 * Rolls a plan out in the workspace's waves, and watches each of them.
 *
 * @throws EdgewiseError when the rollout ends before anything is sent
 */
export async function runRollout(
  workspace: LoadedWorkspace,
  plan: Plan,
  store: Store,
  recorded: RecordedState,
  options: RolloutOptions,
): Promise<ApplyResult> {
  const { outside, lock, continued, serviceTime } = options
  const { time } = serviceTime
  const { rollout: settings, service } = workspace.config
  const startedAt = new Date(outside.clock.now()).toISOString()
  const about = { id: createApplyId(outside), startedAt, author: findAuthor(outside) }
  const rollout =
    continued === null
      ? createRollout(plan, hashDesired(workspace), about)
      : continueRollout(continued, plan)
  outside.tracer?.root().set({ 'edgewise.rollout': rollout.id })
  let budget: CallBudget | null = null
  const unknownDomains = new Set<Domain>()
  const serviceLimits = new ServiceLimits()
  const execute: Applying['execute'] = (part, id, base) =>
    executePlan(workspace, part, store, base, {
      outside,
      time,
      serviceLimits,
      bisects: options.bisects,
      unknownDomains,
      id,
      lease: lock.lease,
      lockedAt: lock.lockedAt,
      report: (event, partBudget) => {
        budget = partBudget
        // The rollout reports itself as a single apply.
        if (event.type !== 'apply.started' && event.type !== 'apply.finished')
          options.report(event, partBudget)
      },
    })
  const { grain = 'minute5', area = 'all' } = settings.health ?? {}
  const question = { grain, area }
  const context: RolloutContext = {
    clock: outside.clock,
    time: { now: () => time.now(), ask: () => serviceTime.ask() },
    service: {
      count: (domains, window, use) => {
        const count = (queries: QueryClient) => queryCounts(queries, domains, window, question, use)
        return withQueries(workspace, { outside, time }, count)
      },
      list: (domains, window, use) => {
        const list = (queries: QueryClient) => querySeries(queries, domains, window, question, use)
        return withQueries(workspace, { outside, time }, list)
      },
    },
    applying: {
      prepare: async (part, base) => {
        options.guard()
        return (await resolveForSend(workspace, part, base, outside.signal)).plan
      },
      execute,
      rollBack: (from, base, report) =>
        inSpan(outside.tracer, 'roll back wave', () =>
          rollBack(workspace, store, from, base, report, execute, outside),
        ),
      whileUnlocked: (work) => lock.whileUnlocked(work),
    },
    store,
    settings: {
      pauseMs: settings.pause * 1000,
      rule: settings.health,
      zone: createTimeZone(service.timezone),
    },
    suspends: options.suspends,
    signal: outside.signal,
    tracer: outside.tracer,
    report: (event) => options.report(event, budget),
  }
  return rollOut(plan, rollout, recorded, context)
}

/** Rolls back all changes of a rollout; returns the reason if nothing can be rolled back. */
async function rollBack(
  workspace: LoadedWorkspace,
  store: Store,
  { id }: Rollout,
  recorded: RecordedState,
  report: (writes: number) => void,
  execute: Applying['execute'],
  outside: Outside,
): Promise<RolledBack | string> {
  // Calls were sent: an interrupt must not end the planning of what sets them back.
  const { runBlocking: _, ...uninterrupted } = outside
  const all = { target: [], items: [] }
  try {
    const found = await planRollback(workspace, store, recorded, all, id, uninterrupted)
    report(found.plan.writes.length)
    runPreflight(workspace, found.plan)
    const { plan } = await resolveForSend(workspace, found.plan, recorded, outside.signal)
    const result = await execute(plan, `${id}-${rollbackSuffix}`, recorded)
    const remaining = removeUnmanaged(found, result.recorded)
    if (remaining.size > 0)
      await store.save(remaining, `Rollout ${id}: removed items that were unrecorded before`)
    return {
      result,
      irreversible:
        found.irreversible.length === 0 ? null : describeIrreversible(found.irreversible),
    }
  } catch (error) {
    if (error instanceof EdgewiseError && error.code === 'irreversible') return error.message
    throw error
  }
}
