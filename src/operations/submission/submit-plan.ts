import { append } from '../../core/model/lists.ts'
import {
  CancelledError,
  EdgewiseError,
  DefectAfterWrites,
} from '../../core/model/edgewise-error.ts'
import type { ApplyEvent, Doubt } from '../../core/model/events.ts'
import { selectDefinite, type Plan } from '../../core/model/plan.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { CallBudget } from '../../service/write/call-budget.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { compareSecrets, reportUnchanged, type Remake } from './compare-secrets.ts'
import { executePlan, findAuthor } from './execute-plan.ts'
import { listFirstPlanWarnings } from './first-plan-warnings.ts'
import { refuseFrozen, refuseGuarded, type GuardRequest } from './guards.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'
import { markOlder, refuseOlder } from './older-values.ts'
import type { Ports } from '../runtime/ports.ts'
import { runPreflight } from './preflight.ts'
import { pruneOld } from '../prune.ts'
import { resolveForSend } from './resolve-for-send.ts'
import { listManaged, refuseOwnedElsewhere } from './refuse-owned-elsewhere.ts'
import { checkMoves, recordMoves } from '../history/renamed-domains.ts'
import { decideRollouts, type WaveRequest } from './rollout-decisions.ts'
import { isRollout, runRollout } from './run-rollout.ts'
import { isStopped } from '../../engine/rollout/approvals.ts'
import { createServiceTime } from '../runtime/connect.ts'
import { findStrangeRelease } from './strange-release.ts'
import { determineStatus, traceExecuted, type ApplyFinished, type Executed } from './executed.ts'
import type { Locked } from '../runtime/with-lock.ts'

interface SubmitRequest extends GuardRequest, WaveRequest {
  /** Name of the operation at the beginning of a sentence. */
  title: 'Apply' | 'Rollback' | 'Repair'
  locked: Locked
  /** State that the plan is based on. */
  recorded: RecordedState
  /** Ask before anything is sent; a saved plan is already approved. */
  asks: boolean
  /** End where a rollout has to wait for some time, instead of waiting. */
  suspends?: boolean
  /** Returns the id of the apply; absent: a new one. */
  id?(): string
  /** Makes the plan again once its secrets are compared; absent: it has no conditional changes. */
  remake?: Remake
  /** Called after consent and before anything is sent. */
  beforeSending?(): Promise<void>
}

/**
 * Shows a plan, checks the guards, runs the preflight, asks, and executes the plan under the lock.
 * Every operation that changes the service uses this function.
 *
 * @throws EdgewiseError `owned-elsewhere`, `guarded`, `access`, `invalid`, `rollout-open`,
 * `declined`: nothing was sent
 */
export async function submitPlan(
  workspace: LoadedWorkspace,
  given: Plan,
  request: SubmitRequest,
  ports: Ports,
): Promise<Executed> {
  const { outside, dialogue } = ports
  const { locked, recorded } = request
  const { store } = locked
  // A rollback goes back, and was asked for.
  const isRollback = request.title === 'Rollback'
  const strange = isRollback ? null : await findStrangeRelease(workspace, store, recorded)
  const by = { author: findAuthor(outside), strange }
  const mark = async (plain: Plan) =>
    isRollback ? plain : await markOlder(workspace, store, recorded, plain, by)
  const plan = await mark(given)
  await refuseOwnedElsewhere(workspace, store, listManaged(plan))
  if (request.title !== 'Rollback')
    for (const note of await checkMoves(workspace, store)) dialogue.note(note)
  const firstPlan = await listFirstPlanWarnings(workspace, store, recorded)
  for (const warning of [...firstPlan, ...plan.warnings]) dialogue.warn(warning)
  // Copied, so that the dialogue can't change the plan to send; released before it is sent.
  let shown: Plan | null = structuredClone(plan)
  await dialogue.show({ kind: 'plan', plan: shown })

  const serviceTime = createServiceTime(workspace, outside, (text) => dialogue.warn(text))
  const { freeze } = workspace.config.guards
  const isFreezable = freeze.length > 0 && plan.changes.length > 0
  const now = isFreezable ? await serviceTime.ask() : null
  let consented = 0
  // A conditional change counts once it is known that it differs.
  const judge = async (judged: Plan) => {
    refuseGuarded(workspace, recorded, judged, request, now ?? outside.clock.now())
    const { older = [] } = judged
    if (older.length > consented) await refuseOlder(older, request.allowOlder, dialogue)
    consented = older.length
    return decideRollouts(workspace, store, judged, request)
  }
  const decided = await judge(selectDefinite(plan))
  runPreflight(workspace, plan)
  if (strange !== null && request.allowRelease !== true && !(await dialogue.confirm(strange)))
    throw new CancelledError(`${request.title} cancelled: nothing was sent`)
  if (
    plan.changes.length > 0 &&
    request.asks &&
    !(await dialogue.confirm({ kind: 'apply', plan: shown }))
  )
    throw new CancelledError(`${request.title} cancelled: nothing was sent`)
  shown = null

  outside.onPhase?.({ name: 'preparing-writes', total: plan.writes.length })
  const compared = await compareSecrets(workspace, plan, request.remake, outside.signal)
  const { unchanged } = compared
  const sent = compared.plan === plan ? plan : await mark(compared.plan)
  if (sent !== plan) await dialogue.show({ kind: 'compared', ...compared })
  const { continued, ended, kept } = sent === plan ? decided : await judge(sent)
  const inWaves = request.waves && isRollout(workspace, sent, continued)
  // Resolved before anything changes; the secrets of a later wave are resolved when it begins.
  const first = inWaves ? selectFirstWave(sent, continued) : sent
  const { plan: ready, renewed } = await resolveForSend(workspace, first, recorded, outside.signal)
  for (const name of renewed)
    dialogue.note(
      `The secret ${escapeInvisible(name)} differs from its recorded value; ` +
        'the writes send the new value.',
    )
  await recordMoves(store, ports)
  await request.beforeSending?.()
  if (ready.writes.length > 0) await outside.onSending?.()
  if (ended.length > 0)
    await store.deleteRollouts(ended, `Rollouts ${ended.join(', ')}: ended by another apply`)
  for (const rollout of kept)
    await store.saveRollout(rollout, `Rollout ${rollout.id}: another apply retries domains on hold`)

  const { callsPerMinute } = workspace.config.limits
  const writes = [...sent.writes, ...unchanged]
  const progress = await dialogue.startProgress({
    writes: writes.length,
    parts: new Map(
      writes.map(({ id, domains, items }) => [id, { domains, items: Object.keys(items) }]),
    ),
    callsPerMinute,
    inWaves,
  })
  let finished: ApplyFinished | undefined
  let begun = false
  const doubts: Doubt[] = []
  const options = {
    outside,
    serviceTime,
    time: serviceTime.time,
    report: (reported: ApplyEvent, budget: CallBudget | null) => {
      for (const event of reportUnchanged(reported, unchanged)) {
        begun ||= event.type === 'write.started'
        if (event.type === 'write.in-doubt') doubts.push(event)
        progress.report(event, budget?.countAvailable() ?? null)
        if (event.type === 'apply.finished') finished = event
      }
    },
  }
  let executed: Executed
  try {
    const result = inWaves
      ? await runRollout(workspace, sent, store, recorded, {
          ...options,
          lock: locked,
          continued,
          suspends: request.suspends === true,
          guard: () => refuseFrozen(workspace, serviceTime.time.now() ?? outside.clock.now()),
        })
      : await executePlan(workspace, ready, store, recorded, {
          ...options,
          lease: locked.lease,
          lockedAt: locked.lockedAt,
          id: request.id?.(),
        })
    if (result.elsewhere !== undefined)
      dialogue.note(
        `Another process ended the rollout: it sent ${pluralize(result.elsewhere, 'write')} ` +
          'of this plan. All of its changes are recorded as confirmed.',
      )
    // A resumed rollout has already sent writes, unless it waited before its first wave.
    const sentBefore = continued?.waves.some(({ applied }) => applied !== null) === true
    const status = determineStatus(result, sent, inWaves, sentBefore)
    const message = 'not sent, but that could not be recorded'
    append(
      doubts,
      result.unsettled.map((part) => ({ ...part, message })),
    )
    executed = { plan: sent, result, status, inWaves, finished, doubts }
    traceExecuted(executed, outside.tracer)
  } catch (error) {
    throw begun && !(error instanceof EdgewiseError) ? new DefectAfterWrites(error, doubts) : error
  } finally {
    progress.end()
  }
  const { unrecorded, recorded: recordedNow } = executed.result
  const mayPrune = locked.isWhole && sent.changes.length > 0 && unrecorded === null
  if (mayPrune && !outside.signal.aborted) await pruneOld(workspace, store, recordedNow, ports)
  return executed
}

/** Selects the writes to begin with: none if their wave has to wait for approval. */
function selectFirstWave(plan: Plan, continued: Rollout | null): Plan {
  if (isStopped(plan, continued)) return { ...plan, writes: [] }
  const first = plan.writes.reduce((least, { wave }) => Math.min(least, wave), Infinity)
  return { ...plan, writes: plan.writes.filter(({ wave }) => wave === first) }
}
