import { applyPlan } from '../apply/apply-plan.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { ApplyContext, ApplyResult, Moment } from '../apply/run.ts'
import type { Plan } from '../model/plan.ts'
import { CallBudget } from '../service/write/call-budget.ts'
import { buildCalls, toUptimes, type MachineTimes } from '../state/format/calls.ts'
import type { Lease } from '../state/lock.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { connect } from './connect.ts'
import type { Outside } from './outside.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** How an apply is carried out. */
export interface ExecuteOptions {
  outside: Outside
  lease: Lease
  /** When the lock was taken. */
  lockedAt: Moment
  isolate: boolean
  /** Its id, where it is a part of something; a new one otherwise. */
  id?: string
  /** Ends a new id, to tell the kind of apply in a history. */
  suffix?: string
  tell(event: ApplyEvent, budget: CallBudget): void
}

/**
 * Carries a plan out against the service (or the emulator, started for the time of the apply) and
 * records every outcome.
 *
 * @param plan checked by `refuseUnready`, agreed to, and resolved by `resolveForSend`
 * @throws EdgewiseError `access` when the token is not at hand; nothing was sent then
 */
export async function executePlan(
  workspace: LoadedWorkspace,
  plan: Plan,
  store: Store,
  recorded: RecordedState,
  options: ExecuteOptions,
): Promise<ApplyResult> {
  const { outside } = options
  const { config, vault } = workspace
  const { clock } = outside
  const id = options.id ?? createApplyId(outside, options.suffix)
  const { callsPerMinute, maxWaitSeconds } = config.limits
  const here = (): MachineTimes => ({
    boot: outside.machine.boot,
    now: clock.now(),
    up: clock.monotonic(),
  })
  const { calls, incomplete } = await store.loadCalls()
  // What an apply sent that was cut off elsewhere: no more than the rate allows.
  const unknown = Array.from({ length: incomplete ? callsPerMinute : 0 }, () => here().up)
  const earlier = [...toUptimes(calls, here()), ...unknown]
  // Whoever comes next has to know of them too, even if nothing is sent now.
  if (earlier.length > 0) await store.saveCalls(id, buildCalls(earlier, here()))
  const remember = (times: number[]) => store.saveCalls(id, buildCalls(times, here()))
  const settleMs = config.service.settleSeconds * 1000
  const budget = new CallBudget(
    callsPerMinute,
    maxWaitSeconds * 1000,
    clock,
    earlier,
    remember,
    settleMs,
  )
  const service = plan.writes.length === 0 ? null : await connect(workspace, outside)
  try {
    const context: ApplyContext = {
      store,
      client: service?.client ?? {
        write: () => Promise.reject(new TypeError('expected a plan without writes to send none')),
      },
      budget,
      clock,
      random: () => outside.random(),
      settleMs,
      timeoutMs: config.service.timeoutSeconds * 1000,
      isolate: options.isolate,
      leaseLeftMs: () => options.lease.remainingMs(),
      apply: id,
      commit: plan.basis.commit,
      author: findAuthor(outside),
      lockedAt: options.lockedAt,
      secrets: vault,
      signal: outside.signal,
      tell: (event) => options.tell(event, budget),
    }
    return await applyPlan(plan, recorded, context)
  } finally {
    await service?.close()
  }
}

/** Who starts an apply: the person whom the CI service names, else the user of this machine. */
export function findAuthor({ env, user }: Outside): string {
  return env['GITHUB_ACTOR'] ?? env['GITLAB_USER_LOGIN'] ?? user
}

/** An id for an apply: sortable by time, and different for two of one second. */
export function createApplyId(outside: Outside, suffix = ''): string {
  const stamp = new Date(outside.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')
  const chance = Math.floor(outside.random() * 0x10000)
    .toString(16)
    .padStart(4, '0')
  return [stamp, chance, ...(suffix === '' ? [] : [suffix])].join('-')
}
