import type { ApplyEvent } from '../model/events.ts'
import { readCounts } from '../rollout/read-counts.ts'
import { windowsOf } from '../health/windows.ts'
import { letOut, type Back, type RolloutContext } from '../rollout/roll-out.ts'
import { goneOnWith, rolloutOf } from '../rollout/wave-part.ts'
import { undisturbedFrom } from '../rollout/baseline-start.ts'
import { waitForBaseline, waits, watchWave, type Watching } from '../rollout/watch-wave.ts'
import type { ApplyResult } from '../apply/run.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import type { Rollout } from '../model/rollout.ts'
import { timeZone } from '../model/time-zone.ts'
import type { CallBudget } from '../service/write/call-budget.ts'
import type { Recorded, Store } from '../state/store.ts'
import { apply, applyId, type ApplyOptions } from './execute-plan.ts'
import { askedOf } from './hash-desired.ts'
import { rollbackSuffix } from './find-change.ts'
import { someIrreversible } from './irreversible.ts'
import { withReader } from './with-reader.ts'
import { resolveForSend } from './resolve-for-send.ts'
import { rollback, withoutUnmanaged } from './plan-rollback.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** How a rollout is carried out: as an apply, and with a lock that may be given away for a while. */
export interface RolloutOptions extends Omit<ApplyOptions, 'lease' | 'lockedAt' | 'id' | 'suffix' | 'tell'> {
  lock: {
    readonly lease: ApplyOptions['lease']
    readonly lockedAt: ApplyOptions['lockedAt']
    whileFree<T>(work: () => Promise<T>): Promise<T>
  }
  /** The rollout that the plan goes on with; null for a new one. */
  continued: Rollout | null
  /** Throws what a wave may not begin for at its time. */
  guard?(): void
  tell(event: ApplyEvent, budget: CallBudget | null): void
}

/** Whether a plan goes out in more than one step, or is looked after. */
export function isRollout({ config }: LoadedWorkspace, plan: Plan, continued: Rollout | null): boolean {
  return continued !== null || plan.writes.some(({ wave }) => wave > 1) || (config.rollout.health !== null && plan.writes.length > 0)
}

/**
 * Lets a plan out in the waves of the workspace's rollout, and looks after each of them.
 *
 * @throws EdgewiseError what ends it before anything is sent
 */
export async function rollOut(
  workspace: LoadedWorkspace,
  plan: Plan,
  store: Store,
  recorded: Recorded,
  options: RolloutOptions,
): Promise<ApplyResult> {
  const { outside, lock, author, continued } = options
  const time = () => new Date(outside.clock.now()).toISOString()
  const rollout =
    continued === null
      ? rolloutOf(plan, askedOf(workspace), { id: applyId(outside), startedAt: time(), author })
      : goneOnWith(continued, plan)
  let budget: CallBudget | null = null
  const part = (own: Plan, base: Recorded, id: string) =>
    apply(workspace, own, store, base, {
      ...options,
      id,
      lease: lock.lease,
      lockedAt: lock.lockedAt,
      tell: (event, its) => {
        budget = its
        // The rollout is one apply to those who watch it.
        if (event.type !== 'apply.started' && event.type !== 'apply.finished') options.tell(event, its)
      },
    })
  const tell = (event: ApplyEvent) => options.tell(event, budget)
  const context: RolloutContext = {
    apply: (own, id, base) => part(own, base, id),
    ...aftercare(workspace, options, tell),
    takeBack:
      workspace.config.rollout.health?.onFailure === 'rollback'
        ? (from, base, reason) => {
            const told = (writes: number) => tell({ type: 'rollout.taking-back', time: time(), apply: from.id, reason, writes })
            return takeBack(workspace, store, from, base, told, part)
          }
        : null,
    whileFree: (work) => lock.whileFree(work),
    reload: async (id) => ({
      recorded: await store.load(),
      rollout: (await store.rollouts()).find((each) => each.id === id && each.state === 'open') ?? null,
    }),
    keep: (each, why) => store.keepRollout(each, why),
    drop: ({ id }, why) => store.dropRollouts([id], why),
    signal: options.signal,
    time,
    tell,
  }
  return letOut(plan, rollout, recorded, context)
}

/** Takes back all that a rollout changed. The reason where nothing of it can be. */
async function takeBack(
  workspace: LoadedWorkspace,
  store: Store,
  { id }: Rollout,
  recorded: Recorded,
  told: (writes: number) => void,
  part: (plan: Plan, base: Recorded, id: string) => Promise<ApplyResult>,
): Promise<Back | string> {
  try {
    const found = await rollback(workspace, store, recorded, { target: [], items: [] }, id)
    told(found.plan.writes.length)
    const result = await part(found.plan, recorded, `${id}-${rollbackSuffix}`)
    const left = withoutUnmanaged(found, recorded)
    if (left.size > 0) await store.save(left, `Rollout ${id}: what was not recorded before is no longer recorded`)
    return { result, lost: found.irreversible.length === 0 ? null : someIrreversible(found.irreversible) }
  } catch (error) {
    if (error instanceof EdgewiseError && error.code === 'irreversible') return error.message
    throw error
  }
}

/** What happens between waves. */
function aftercare(
  workspace: LoadedWorkspace,
  { outside, signal, guard }: RolloutOptions,
  tell: (event: ApplyEvent) => void,
): Pick<RolloutContext, 'prepare' | 'undisturbed' | 'watch' | 'waits' | 'judges'> {
  const { rollout, service } = workspace.config
  const zone = timeZone(service.timezone)
  const rule = rollout.health
  const watching: Watching = {
    pauseMs: rollout.pause * 1000,
    rule,
    counts: (domains, window) =>
      withReader(workspace, outside, { signal }, (reader) => readCounts(reader, domains, window, rule?.grain ?? 'minute5')),
    zone,
    clock: outside.clock,
    signal,
    tell,
  }
  return {
    judges: rule !== null,
    prepare: async (domains, part, recorded) => {
      guard?.()
      await resolveForSend(workspace, part, recorded, signal)
      if (rule === null) return
      const now = outside.clock.now()
      await watching.counts(domains, windowsOf(now, now, rule, zone).before)
    },
    undisturbed: (each, at, domains, recorded) => {
      const now = outside.clock.now()
      const time = undisturbedFrom(domains, recorded, now, rule)
      return time <= now ? null : () => waitForBaseline(each, at, time, watching)
    },
    waits: (each, at) => waits(each, at, watching),
    watch: (each, at) => watchWave(each, at, watching),
  }
}
