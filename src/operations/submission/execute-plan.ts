import type {
  Configured,
  Settings,
  Secrets,
  ItemPlaces,
  Checkout,
  Outside,
} from '../runtime/parts.ts'
import { applyPlan, maxInFlight } from '../../engine/apply/apply-plan.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { ApplyContext, ApplyResult, Moment } from '../../engine/apply/run.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { pickTree } from '../../core/model/source-tree.ts'
import { buildBundles } from '../../core/plan/groups.ts'
import type { ServiceTime } from '../../service/service-time.ts'
import { ServiceLimits } from '../../service/service-limits.ts'
import { CallBudget } from '../../service/write/call-budget.ts'
import type { EndedCalls } from '../../service/write/next-call.ts'
import {
  buildCalls,
  countUnknownCalls,
  keepElsewhere,
  toUptimes,
} from '../../state/format/calls.ts'
import type { StopWatch } from '../../state/locks/stop-watch.ts'
import type { RecordedState, HistoryReader, Recorder, CallStore } from '../../state/store/store.ts'
import { findAuthor } from './find-author.ts'
import { connectToWrite } from '../runtime/connect-to-write.ts'
import type { Grounds } from '../../core/model/applied.ts'
import { readClocks } from '../runtime/recent-calls.ts'

/** Options for executing a plan. */
export interface ExecuteOptions {
  outside: Outside
  lease: Pick<StopWatch, 'check' | 'look'>
  /** Instant of acquiring the lock. */
  lockedAt: Moment
  time: ServiceTime
  /** Unknown domains of a rollout, for all its applies; absent: none is known. */
  unknownDomains?: Set<Domain>
  /** Limits that the service has reported; absent: none yet. */
  serviceLimits?: ServiceLimits
  /** Id of the apply, for a rollback or a part of a rollout; absent: a new one. */
  id?: string | undefined
  /** What it rests on besides its commit. */
  grounds?: Grounds
  report(event: ApplyEvent, budget: CallBudget): void
}

/**
 * Executes a plan against the service (or the emulator, started for the duration of the apply) and
 * records every outcome.
 *
 * @param plan checked by `runPreflight`, approved, and resolved by `resolveForSend`
 * @throws EdgewiseError `access` when there is no token; nothing was sent then
 */
export async function executePlan(
  workspace: Settings & Secrets & ItemPlaces & Checkout,
  plan: Plan,
  store: HistoryReader & Recorder & CallStore,
  recorded: RecordedState,
  options: ExecuteOptions,
): Promise<ApplyResult> {
  const { outside, time } = options
  const { config, vault } = workspace
  const { settleSeconds, timeoutSeconds, url, itemKeys } = config.service
  const id = options.id ?? createApplyId(outside)
  const budget = await openBudget(config, store, id, options)
  const service =
    plan.writes.length === 0 ? null : await connectToWrite(workspace, outside, { time })
  try {
    const context: ApplyContext = {
      store,
      client: service?.client ?? { write: refuseCall, unset: refuseCall },
      budget,
      clock: outside.clock,
      random: () => outside.random(),
      settleMs: settleSeconds * 1000,
      timeoutMs: timeoutSeconds * 1000,
      endsWithProcess: url === 'emulator',
      bundleItems: (items) =>
        buildBundles(items, { ...config.grouping, groups: 'all' }).map((bundle) => bundle.items),
      unknownDomains: options.unknownDomains ?? new Set(),
      serviceNow: () => time.now(),
      lease: options.lease,
      apply: id,
      itemKeys,
      tree: pickTree(plan.basis),
      author: findAuthor(outside),
      workspace: await workspace.findName(),
      grounds: options.grounds,
      lockedAt: options.lockedAt,
      uptime: () => outside.machine.uptime(),
      secrets: vault,
      findItemPlace: (domain, item) => workspace.findItemPlace(domain, item),
      signal: outside.signal,
      report: (event) => options.report(event, budget),
    }
    return await applyPlan(plan, recorded, context)
  } finally {
    await service?.close()
    await endBudget(budget)
  }
}

/**
 * Opens the call budget of the account: the calls of earlier processes count.
 *
 * @param id of the apply that calls
 */
async function openBudget(
  { limits, service }: Configured['config'],
  store: CallStore,
  id: string,
  { outside, serviceLimits }: Pick<ExecuteOptions, 'outside' | 'serviceLimits'>,
): Promise<CallBudget> {
  const { callsPerMinute, maxWaitSeconds, burst } = limits
  const here = () => readClocks(outside)
  const { calls, incomplete, apply: previous = '' } = await store.loadCalls()
  const unknownCalls = incomplete ? countUnknownCalls(callsPerMinute, maxInFlight, here().up) : []
  const earlierCalls = [...toUptimes(calls, here()), ...unknownCalls]
  const saveCalls = (ended: EndedCalls[]) => {
    const times = here()
    return store.saveCalls(id, [...keepElsewhere(earlierCalls, times), ...buildCalls(ended, times)])
  }
  // Saved even if nothing is sent now: the next apply has to count these calls too.
  const ownCalls = earlierCalls.filter((each) => !('call' in each))
  if (earlierCalls.length > 0) await saveCalls(ownCalls)
  const ledger = store.openCallLedger?.(id, previous, here) ?? null
  // The calls of earlier applies count for others, and those of others from now on.
  await ledger?.record(() => ownCalls)
  return new CallBudget(
    callsPerMinute,
    maxWaitSeconds * 1000,
    outside.clock,
    earlierCalls,
    saveCalls,
    (service.timeoutSeconds + service.settleSeconds) * 1000,
    ledger,
    burst === null ? null : { calls: burst.calls, windowMs: burst.seconds * 1000 },
    serviceLimits,
  )
}

function refuseCall(): Promise<never> {
  return Promise.reject(new TypeError('expected a plan without writes to send none'))
}

/** Ends the use of the call budget. Without it, others wait for some seconds more. */
async function endBudget(budget: CallBudget): Promise<void> {
  try {
    await budget.end()
  } catch (error) {
    throwDefect(error)
  }
}

/** Creates an apply id: sortable by time, with random digits for applies of the same second. */
export function createApplyId(outside: Outside, suffix = ''): string {
  const stamp = new Date(outside.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')
  const chance = Math.floor(outside.random() * 0x10000)
    .toString(16)
    .padStart(4, '0')
  return [stamp, chance, ...(suffix === '' ? [] : [suffix])].join('-')
}
