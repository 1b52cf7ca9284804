import type { ApplyResult } from '../apply/run.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { Plan } from '../model/plan.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { CallBudget } from '../service/write/call-budget.ts'
import type { RecordedState } from '../state/store.ts'
import { DefectAfterWrites } from './defect-after-writes.ts'
import { executePlan } from './execute-plan.ts'
import { listFirstPlanWarnings } from './first-plan-warnings.ts'
import { refuseFrozen, refuseGuarded, type GuardRequest } from './guards.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'
import { runPreflight } from './preflight.ts'
import { resolveForSend } from './resolve-for-send.ts'
import { decideRollouts, type WaveRequest } from './rollout-decisions.ts'
import { isRollout, runRollout } from './run-rollout.ts'
import type { Locked } from './with-lock.ts'

interface SubmitRequest extends GuardRequest, WaveRequest {
  locked: Locked
  /** What the plan rests on. */
  recorded: RecordedState
  /** Ask before anything is sent. A saved plan was agreed to when it was made. */
  asks: boolean
  /** End the apply at the first refused write, instead of bisecting it. */
  stopOnRefusal?: boolean
  /** Ends the id of the apply, to show its kind in a history. */
  suffix?: string
  /** Done once the plan was agreed to and before anything is sent. */
  beforeSending?(): Promise<void>
}

type ApplyFinished = Extract<ApplyEvent, { type: 'apply.finished' }>

/** What came of a plan. */
export interface Executed {
  plan: Plan
  result: ApplyResult
  /** The last event; absent when nothing was begun. */
  finished?: ApplyFinished
  /**
   * - `done`: everything planned is confirmed and recorded.
   * - `not-begun`: it is not, and nothing was sent.
   * - `incomplete`: it is not, and something was sent, now or by an earlier wave.
   */
  status: 'done' | 'not-begun' | 'incomplete'
  inWaves: boolean
}

/**
 * Shows a plan, holds it against the guards, checks what it needs, asks, and executes it while the
 * lock is held. Every way to change the service goes through here, in this order.
 *
 * @throws EdgewiseError `guarded`, `access`, `invalid`, `rollout-open`, `declined`: nothing was
 * sent then
 */
export async function submitPlan(
  workspace: LoadedWorkspace,
  plan: Plan,
  request: SubmitRequest,
  ports: Ports,
): Promise<Executed> {
  const { outside, dialogue } = ports
  const { locked, recorded } = request
  const { store } = locked
  const firstPlan = await listFirstPlanWarnings(workspace, store, recorded)
  for (const warning of [...firstPlan, ...plan.warnings]) dialogue.warn(warning)
  // A copy: what is shown can't change what is sent.
  const shown = structuredClone(plan)
  dialogue.show({ kind: 'plan', plan: shown })

  refuseGuarded(workspace, recorded, plan, request, outside.clock.now())
  runPreflight(workspace, plan)
  const { continued, ended, kept } = await decideRollouts(workspace, store, plan, request)
  if (
    plan.changes.length > 0 &&
    request.asks &&
    !(await dialogue.confirm({ kind: 'apply', plan: shown }))
  )
    throw new EdgewiseError('declined', 'nothing was applied')

  const inWaves = request.waves && isRollout(workspace, plan, continued)
  // Refused before anything is changed; a later wave has its turn when it begins.
  const first = inWaves ? firstWave(plan) : plan
  const { plan: ready, renewed } = await resolveForSend(workspace, first, recorded, outside.signal)
  for (const name of renewed)
    dialogue.note(
      `The secret ${escapeInvisible(name)} has another value than is recorded; the writes send it.`,
    )
  await request.beforeSending?.()
  if (ended.length > 0)
    await store.deleteRollouts(
      ended,
      `Rollouts ${ended.join(', ')}: another apply takes their place`,
    )
  for (const rollout of kept)
    await store.saveRollout(
      rollout,
      `Rollout ${rollout.id}: another apply tries again what it held`,
    )

  const { callsPerMinute } = workspace.config.limits
  const progress = await dialogue.startProgress({
    writes: plan.writes.length,
    callsPerMinute,
    inWaves,
  })
  let finished: ApplyFinished | undefined
  let begun = false
  const how = {
    outside,
    isolate: request.stopOnRefusal !== true,
    tell: (event: ApplyEvent, budget: CallBudget | null) => {
      begun ||= event.type === 'write.started'
      progress.report(event, budget?.countAvailable() ?? null)
      if (event.type === 'apply.finished') finished = event
    },
  }
  try {
    const result = inWaves
      ? await runRollout(workspace, plan, store, recorded, {
          ...how,
          lock: locked,
          continued,
          guard: () => refuseFrozen(workspace, outside.clock.now()),
        })
      : await executePlan(workspace, ready, store, recorded, {
          ...how,
          lease: locked.lease,
          lockedAt: locked.lockedAt,
          suffix: request.suffix,
        })
    // Of a rollout that goes on, something was sent before.
    const status = statusOf(result, inWaves, continued !== null)
    return { plan, result, status, inWaves, finished }
  } catch (error) {
    throw begun && !(error instanceof EdgewiseError) ? new DefectAfterWrites(error) : error
  } finally {
    progress.end()
  }
}

function firstWave(plan: Plan): Plan {
  const first = plan.writes.reduce((least, { wave }) => Math.min(least, wave), Infinity)
  return { ...plan, writes: plan.writes.filter(({ wave }) => wave === first) }
}

function statusOf(result: ApplyResult, inWaves: boolean, sentBefore: boolean): Executed['status'] {
  const { refused, inDoubt, notSent, unrecorded, stopped } = result
  const incomplete =
    refused + inDoubt + notSent > 0 || unrecorded !== null || (inWaves && stopped !== null)
  if (!incomplete) return 'done'
  return result.sent || sentBefore ? 'incomplete' : 'not-begun'
}
