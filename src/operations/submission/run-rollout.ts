import type { Configured, Settings, Secrets, Plannable, Outside } from '../runtime/parts.ts'
import type { ApplyResult } from '../../engine/apply/run.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { nameAuthor, type Grounds } from '../../core/model/applied.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Domain } from '../../core/model/item.ts'
import { addUp } from '../../core/model/lists.ts'
import type { Plan } from '../../core/model/plan.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import { createTimeZone } from '../../core/model/time/time-zone.ts'
import { getRoot, inSpan } from '../../core/model/telemetry.ts'
import type { Applying, RolledBack, RolloutContext } from '../../engine/rollout/ports.ts'
import { rollOut } from '../../engine/rollout/roll-out.ts'
import { continueRollout, createRollout } from '../../engine/rollout/waves.ts'
import type { QueryClient } from '../../service/query/query-client.ts'
import { ServiceLimits } from '../../service/service-limits.ts'
import type { CallBudget } from '../../service/write/call-budget.ts'
import { watchStop } from '../../state/locks/stop-watch.ts'
import type {
  CallStore,
  HistoryReader,
  RecordedState,
  Recorder,
  RolloutStore,
  StateReader,
  StateWriter,
} from '../../state/store/store.ts'
import { compareWritten } from '../observation/compare-written.ts'
import { createApplyId, executePlan, type ExecuteOptions } from './execute-plan.ts'
import { findAuthor } from './find-author.ts'
import { rollbackSuffix } from './find-change.ts'
import { hashDesired } from './hash-desired.ts'
import { describeIrreversible } from './irreversible.ts'
import { runPreflight } from './preflight.ts'
import { resolveForSend } from './resolve-for-send.ts'
import { refuseStopped } from './account-stop.ts'
import { type SharedServiceTime, withQueries } from '../runtime/connect.ts'
import { planRollback, removeUnmanaged } from '../history/plan-rollback.ts'
import type { Locked } from '../runtime/with-lock.ts'
import type { DomainCounts, Window } from '../../core/model/health.ts'
import {
  addCounts,
  createCounts,
  type Counts,
  type Point,
  type Question,
} from '../../core/model/statistics.ts'

/** Options for running a rollout, whose lock may be released for a while. */
interface RolloutOptions extends Pick<ExecuteOptions, 'outside' | 'grounds'> {
  serviceTime: SharedServiceTime
  lock: Locked
  /** The rollout that the plan continues; null for a new one. */
  continued: Rollout | null
  /** Whether the caller waits where the rollout has to. */
  suspends: boolean
  looksBack: string | undefined
  /** Throws if a wave may not begin now. */
  guard(): Promise<void>
  report(event: ApplyEvent, budget: CallBudget | null): void
}

type RolloutState = StateReader & HistoryReader & Recorder & StateWriter & RolloutStore & CallStore

/** Returns whether a plan has several waves, a health check or a wave that needs approval. */
export function isRollout({ config }: Configured, plan: Plan, continued: Rollout | null): boolean {
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
  workspace: Plannable,
  plan: Plan,
  store: RolloutState,
  recorded: RecordedState,
  options: RolloutOptions,
): Promise<ApplyResult> {
  const { outside, continued, serviceTime, lock } = options
  const rollout =
    continued === null ? begin(workspace, plan, options) : continueRollout(continued, plan)
  getRoot()?.setAttributes({ 'edgewise.rollout': rollout.id })
  let budget: CallBudget | null = null
  const report: RolloutOptions['report'] = (event, partBudget) => {
    budget = partBudget
    // The rollout reports itself as a single apply.
    if (event.type !== 'apply.started' && event.type !== 'apply.finished')
      options.report(event, partBudget)
  }
  const { rollout: settings, service } = workspace.config
  const result = await rollOut(plan, rollout, recorded, {
    clock: outside.clock,
    time: { now: () => serviceTime.time.now(), ask: () => serviceTime.ask() },
    service: createCounting(workspace, outside, serviceTime.time),
    applying: {
      ...createApplying(workspace, store, options, report),
      whileUnlocked: (work) => lock.whileUnlocked(work),
    },
    store,
    settings: {
      pauseMs: settings.pause * 1000,
      rule: settings.health,
      zone: createTimeZone(service.timezone),
    },
    suspends: options.suspends,
    looksBack: options.looksBack !== undefined,
    signal: outside.signal,
    report: (event) => {
      options.report({ time: new Date(outside.clock.now()).toISOString(), ...event }, budget)
    },
  })
  const { rollout: left, open } = result
  if (left === undefined || open === true || findCurrentWave(left) !== null) return result
  const waves = await store.listApplies(left.applies)
  return { ...result, total: addUp(waves, ({ writes }) => writes.confirmed) }
}

function begin(
  workspace: Plannable,
  plan: Plan,
  { outside, grounds = {} }: RolloutOptions,
): Rollout {
  const startedAt = new Date(outside.clock.now()).toISOString()
  const author = nameAuthor({ author: findAuthor(outside), ...grounds })
  const about = { id: createApplyId(outside), startedAt, author }
  const isFirst = workspace.hadRoles === false && workspace.config.roles.length > 0
  const rollout = createRollout(plan, hashDesired(workspace), about)
  return isFirst ? { ...rollout, firstRoles: true } : rollout
}

/** Creates the queries of the health checks. */
function createCounting(
  workspace: Settings,
  outside: Outside,
  time: SharedServiceTime['time'],
): RolloutContext['service'] {
  const { grain = 'minute5', area = 'all' } = workspace.config.rollout.health ?? {}
  const about = { grain, area }
  const query = <T>(ask: (queries: QueryClient) => Promise<T>) =>
    withQueries(workspace, { outside, time }, ask)
  return {
    count: (domains, window, use) =>
      query((queries) => queryCounts(queries, domains, window, about, use)),
    list: (domains, window, use) =>
      query((queries) => querySeries(queries, domains, window, about, use)),
  }
}

/** Creates the applies of the waves, and the rollback of a bad one. */
function createApplying(
  workspace: Plannable,
  store: RolloutState,
  { outside, lock, serviceTime, guard, grounds = {} }: RolloutOptions,
  report: RolloutOptions['report'],
): Omit<Applying, 'whileUnlocked'> {
  const unknownDomains = new Set<Domain>()
  const serviceLimits = new ServiceLimits()
  const watch = watchStop(lock, outside)
  const { whole: _whole, ...partial } = grounds
  // The first wave was compared before the consent, which may have changed what it has.
  let isCompared = grounds.overrides === undefined
  const send = (part: Plan, id: string, base: RecordedState, own: Grounds) =>
    executePlan(workspace, part, store, base, {
      outside,
      time: serviceTime.time,
      serviceLimits,
      unknownDomains,
      id,
      grounds: own,
      lease: watch,
      lockedAt: lock.lockedAt,
      report,
    })
  return {
    prepare: async (part, base) => {
      await guard()
      if (isCompared) isCompared = false
      else await compareWritten(workspace, part, base, outside)
      return (await resolveForSend(workspace, part, base, outside.signal)).plan
    },
    execute: (part, id, base, isLast) => send(part, id, base, isLast ? grounds : partial),
    isAccountStopped: () => watch.isStopped(),
    rollBack: (from, base, reportWrites) =>
      inSpan('roll back wave', async () => {
        await refuseStopped(lock.accountStop)
        const own = { ...partial, reason: from.reason ?? '' }
        const execute = (plan: Plan) => send(plan, `${from.id}-${rollbackSuffix}`, base, own)
        return rollBack(workspace, store, from, base, reportWrites, execute, outside)
      }),
  }
}

/** Rolls back all changes of a rollout; returns the reason if nothing can be rolled back. */
async function rollBack(
  workspace: Settings & Secrets,
  store: HistoryReader & StateWriter,
  { id }: Rollout,
  recorded: RecordedState,
  report: (writes: number) => void,
  execute: (plan: Plan) => Promise<ApplyResult>,
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
    const result = await execute(plan)
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

/**
 * Queries the points of each domain in a window.
 *
 * @param use gets points of a domain as they arrive; a domain without points is not among them
 * @throws EdgewiseError as `QueryClient.queryEachDomain`
 */
async function querySeries(
  queries: QueryClient,
  domains: Domain[],
  { from, to }: Window,
  about: Pick<Question, 'grain' | 'area'>,
  use: (domain: Domain, points: Point[]) => void,
): Promise<void> {
  if (domains.length === 0) return
  for await (const { results } of queries.queryEachDomain({ domains, from, to, ...about }))
    for (const { domain, points } of results) use(domain, points)
}

/**
 * Queries the requests of each domain in a window; a domain without requests has empty counts.
 *
 * @param use gets the points of a domain as they arrive
 * @throws EdgewiseError as `QueryClient.queryEachDomain`
 */
export async function queryCounts(
  queries: QueryClient,
  domains: Domain[],
  window: Window,
  about: Pick<Question, 'grain' | 'area'>,
  use?: (points: Point[]) => void,
): Promise<DomainCounts> {
  const counts = new Map(domains.map((domain): [Domain, Counts] => [domain, createCounts()]))
  await querySeries(queries, domains, window, about, (domain, points) => {
    const sum = counts.get(domain)
    if (sum === undefined) return
    for (const point of points) addCounts(sum, point.counts)
    use?.(points)
  })
  return counts
}
