import type {
  Configured,
  Settings,
  Desired,
  Policed,
  Plannable,
  Outside,
} from '../runtime/parts.ts'
import { append } from '../../core/model/lists.ts'
import {
  CancelledError,
  EdgewiseError,
  DefectAfterWrites,
} from '../../core/model/edgewise-error.ts'
import type { Grounds } from '../../core/model/applied.ts'
import type { ApplyEvent, Doubt } from '../../core/model/events.ts'
import { listTouched, toPart, type Write } from '../../core/model/change.ts'
import { selectDefinite, type Plan } from '../../core/model/plan.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import { addKeptFields } from '../../core/diff/kept-fields.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { hashJson } from '../../core/plan/basis.ts'
import { buildPlanBody } from '../../outlets/report/plan/json.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { isAllConfirmed, type ApplyResult } from '../../engine/apply/run.ts'
import type { CallBudget } from '../../service/write/call-budget.ts'
import { watchStop } from '../../state/locks/stop-watch.ts'
import type { RecordedState, StateWriter } from '../../state/store/store.ts'
import { compareSecrets, reportUnchanged, type Remake } from './compare-secrets.ts'
import { listFirstWrites } from '../observation/compare-written.ts'
import { executePlan } from './execute-plan.ts'
import { findAuthor } from './find-author.ts'
import { giveUp } from './give-up.ts'
import { listFirstPlanWarnings } from './first-plan-warnings.ts'
import { recordRestraints, type Restrained } from '../policies/restrain.ts'
import { type Lifted, openPolicies, submitToPolicies } from './policies.ts'
import { listTrafficWarnings, refuseFrozen, refuseGuarded, type GuardRequest } from './guards.ts'
import { checkReasons, liftsFreeze } from './reasons.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'
import { markOlder, refuseOlder } from './older-values.ts'
import type { Extent, Ports } from '../runtime/ports.ts'
import { runPreflight } from './preflight.ts'
import { pruneOld } from '../prune.ts'
import { refuseStopped } from './account-stop.ts'
import { resolveForSend } from './resolve-for-send.ts'
import { listManaged, refuseOwnedElsewhere } from './refuse-owned-elsewhere.ts'
import { checkMoves, recordMoves } from '../history/renamed-domains.ts'
import { decideRollouts, type RolloutDecisions, type WaveRequest } from './rollout-decisions.ts'
import { isRollout, runRollout } from './run-rollout.ts'
import { isStopped } from '../../engine/rollout/approvals.ts'
import { createServiceTime, type SharedServiceTime } from '../runtime/connect.ts'
import { findForeignRelease } from './foreign-release.ts'
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
  /** Reason of a rollback by a health check that it finishes; none for anything else. */
  takesBack?: string | null
  /** Called after consent and before anything is sent. */
  beforeSending?(): Promise<void>
  /** State of the domains of which the plan is based on observed values. */
  observed: RecordedState
}

/** Decisions about rollouts and policies. */
interface Decided extends RolloutDecisions, Lifted {}

/** A plan that everybody agreed to, and what to do if its comparison of secrets changes it. */
interface Reviewed {
  plan: Plan
  decided: Decided
  serviceTime: SharedServiceTime
  /** Marks the changes that go back to older values. */
  mark(plan: Plan): Promise<Plan>
  /** Checks the guards, the policies and open rollouts, and asks for consent to older values. */
  judge(plan: Plan): Promise<Decided>
}

/** A plan to send. */
interface PreparedPlan {
  /** All of it. */
  plan: Plan
  /** Its first wave, or all of it, with the values of secrets. */
  ready: Plan
  /** Writes that the comparison of secrets has made unnecessary. */
  unchanged: Write[]
  continued: Rollout | null
  inWaves: boolean
  serviceTime: SharedServiceTime
  grounds: Grounds
}

/**
 * Shows a plan, checks the guards, runs the preflight, asks, and executes the plan under the lock.
 * Every operation that changes the service uses this function.
 *
 * @throws EdgewiseError `owned-elsewhere`, `guarded`, `access`, `invalid`, `rollout-open`,
 * `declined`: nothing was sent
 */
export async function submitPlan(
  workspace: LoadedWorkspace & Restrained,
  given: Plan,
  request: SubmitRequest,
  ports: Ports,
): Promise<Executed> {
  const { title, locked } = request
  const store = title === 'Apply' ? locked.store : null
  const { target, items } = given.basis
  const isPart = target.length + items.length > 0
  return recordRestraints(workspace, store, isPart, ports.outside, async () => {
    const reviewed = await review(workspace, given, request, ports)
    const prepared = await prepare(workspace, reviewed, request, ports)
    const executed = await send(workspace, prepared, request, ports)
    const { unrecorded, recorded } = executed.result
    const mayPrune = locked.isWhole && prepared.plan.changes.length > 0 && unrecorded === null
    if (mayPrune && !ports.outside.signal.aborted)
      await pruneOld(workspace, locked, recorded, ports)
    return executed
  })
}

/**
 * Shows a plan with its warnings, checks all that forbids it, and asks for consent.
 *
 * @throws EdgewiseError as `submitPlan`
 */
async function review(
  workspace: Plannable & Restrained,
  given: Plan,
  request: SubmitRequest,
  ports: Ports,
): Promise<Reviewed> {
  const { outside, dialogue } = ports
  const { locked, recorded } = request
  const { store } = locked
  // A rollback goes back, and was asked for.
  const isRollback = request.title === 'Rollback'
  const foreign = isRollback ? null : await findForeignRelease(workspace, store, recorded)
  const by = { author: findAuthor(outside), foreign }
  const mark = async (plain: Plan) =>
    isRollback ? plain : await markOlder(workspace, store, recorded, plain, by)
  const plan = await mark(given)
  await refuseOwnedElsewhere(workspace, store, listManaged(plan))
  if (!isRollback) for (const note of await checkMoves(workspace, store)) dialogue.note(note)
  const firstPlan = await listFirstPlanWarnings(workspace, store, recorded)
  const old = listTrafficWarnings(plan, outside.clock.now())
  const warnings = [...workspace.loosened, ...firstPlan, ...plan.warnings, ...old]
  for (const warning of warnings) dialogue.warn(warning)
  // Copied, so that the dialogue can't change the plan to send; released before it is sent.
  const shown = structuredClone(plan)
  await dialogue.show({ kind: 'plan', plan: shown })
  if (plan.writes.length > 0) await refuseStopped(locked.accountStop)

  const serviceTime = createServiceTime(workspace, outside, (text) => dialogue.warn(text))
  const judge = await createJudge(workspace, plan, serviceTime, request, ports)
  const decided = await judge(selectDefinite(plan))
  runPreflight(workspace, plan)
  const asksForRelease = foreign !== null && request.allowRelease !== true
  const asks = listTouched(plan).size > 0 && request.asks
  if (
    (asksForRelease && !(await dialogue.confirm(foreign))) ||
    (asks && !(await dialogue.confirm({ kind: 'apply', plan: shown })))
  )
    throw new CancelledError(`${request.title} cancelled: nothing was sent`)
  return { plan, decided, serviceTime, mark, judge }
}

/**
 * Creates the function that judges a plan, and once more if the comparison of secrets adds to it.
 */
async function createJudge(
  workspace: Desired & Policed,
  plan: Plan,
  serviceTime: SharedServiceTime,
  request: SubmitRequest,
  { outside, dialogue }: Ports,
): Promise<Reviewed['judge']> {
  // A rollback goes back to what was live.
  const isRollback = request.title === 'Rollback'
  const desired = addKeptFields(workspace.desired, request.recorded)
  const policies = isRollback ? null : await openPolicies({ ...workspace, desired }, outside)
  const { guards } = workspace.config
  checkReasons(guards, request)
  const isFreezable = guards.freeze.length > 0 && plan.changes.length > 0
  const now = isFreezable ? await serviceTime.ask() : null
  let consented = 0
  // A conditional change counts once it is known that it differs.
  return async (judged) => {
    const at = now ?? outside.clock.now()
    const overrides = refuseGuarded(workspace, request.recorded, judged, request, at)
    const { older = [] } = judged
    if (older.length > consented) await refuseOlder(older, request.allowOlder, dialogue)
    consented = older.length
    const touched = listTouched(judged)
    const configs = new Map([...desired].filter(([domain]) => touched.has(domain)))
    const judging = { plan: judged, configs }
    const policed = await submitToPolicies(workspace, policies, judging, request, dialogue)
    append(overrides, policed.overrides)
    const decided = await decideRollouts(workspace, request.locked.store, judged, request)
    const { reason = '', title, observed } = request
    if (decided.liftsHolds) overrides.push({ policy: 'retry-held', reason })
    if (title !== 'Repair' && observed.size > 0) overrides.push({ policy: 'differs', reason })
    return { ...decided, overrides, exceptions: policed.exceptions }
  }
}

/** Compares and resolves the secrets of a plan, and records what has to be before it is sent. */
async function prepare(
  workspace: Policed,
  { plan, decided, serviceTime, mark, judge }: Reviewed,
  request: SubmitRequest,
  ports: Ports,
): Promise<PreparedPlan> {
  const { outside, dialogue } = ports
  const { recorded } = request
  const { store } = request.locked
  outside.onPhase?.({ name: 'preparing-writes', total: plan.writes.length })
  const compared = await compareSecrets(workspace, plan, request.remake, outside.signal)
  const { unchanged } = compared
  const sent = compared.plan === plan ? plan : await mark(compared.plan)
  if (sent !== plan) await dialogue.show({ kind: 'compared', ...compared })
  const { continued, kept, ...lifted } = sent === plan ? decided : await judge(sent)
  const grounds = buildGrounds(workspace, sent, lifted, request)
  const inWaves = request.waves && sent.reverts !== true && isRollout(workspace, sent, continued)
  // Resolved before anything changes; the secrets of a later wave are resolved when it begins.
  const first = inWaves ? selectFirstWave(sent, continued) : sent
  const { plan: ready, renewed } = await resolveForSend(workspace, first, recorded, outside.signal)
  for (const name of renewed)
    dialogue.note(
      `The secret ${escapeInvisible(name)} differs from its recorded value; ` +
        'the writes send the new value.',
    )
  if (ready.writes.length > 0) await refuseStopped(request.locked.accountStop)
  await recordMoves(store, ports)
  await recordObserved(request.observed, store, ports)
  await request.beforeSending?.()
  await giveUp(sent, recorded, store)
  if (ready.writes.length > 0) await outside.onSending?.()
  const now = new Date(outside.clock.now()).toISOString()
  for (const { id, endedAt, ...rollout } of kept)
    await store.saveRollout(
      { id, endedAt: endedAt ?? now, ...rollout },
      `Rollout ${id}: another apply sends its domains`,
    )
  return { plan: sent, ready, unchanged, continued, inWaves, serviceTime, grounds }
}

/** Records observed values, so that a plan can be made of them again. */
async function recordObserved(
  observed: RecordedState,
  store: StateWriter,
  { outside, dialogue }: Ports,
): Promise<void> {
  if (observed.size === 0) return
  outside.onPhase?.({ name: 'saving-state', total: observed.size })
  await store.save(observed, `Observed values of ${observed.size} domains`)
  dialogue.note(`Recorded the observed values of ${pluralize(observed.size, 'domain')}.`)
}

/** Builds what an apply of a plan rests on, for the history. */
function buildGrounds(
  { config, redact }: Settings,
  plan: Plan,
  { overrides, exceptions }: Lifted,
  { title, reason = '', locked: { by } }: SubmitRequest,
): Grounds {
  const { target, items } = plan.basis
  const isPart = target.length > 0 || items.length > 0 || plan.onHold !== undefined
  const { itemKeys } = config.service
  return {
    by: by.knownBy === 'unidentified' ? undefined : by,
    overrides: overrides.length === 0 ? undefined : overrides,
    exceptions: exceptions.length === 0 ? undefined : exceptions,
    plan: hashJson(buildPlanBody(plan, (key) => itemKeys[key] ?? key)),
    reason: reason.trim() === '' ? undefined : redact(reason),
    whole: title !== 'Apply' || isPart ? undefined : true,
  }
}

/** Sends a plan, with progress, and determines how that ended. */
async function send(
  workspace: Plannable,
  prepared: PreparedPlan,
  request: SubmitRequest,
  { outside, dialogue, listeners = [] }: Ports,
): Promise<Executed> {
  const { plan, unchanged, continued, inWaves } = prepared
  const progress = await dialogue.startProgress(measureExtent(prepared, workspace))
  const seen: Seen = { begun: false, doubts: [] }
  const report = (reported: ApplyEvent, budget: CallBudget | null) => {
    for (const each of reportUnchanged(reported, unchanged)) {
      const event = markTakenBack(each, request)
      notice(seen, event)
      const callsLeft = budget?.countAvailable() ?? null
      for (const listener of listeners) listener(event, callsLeft)
      progress.report(event, callsLeft)
    }
  }
  try {
    const result = await execute(workspace, prepared, request, outside, report)
    if (result.elsewhere !== undefined)
      dialogue.note(
        `Another process ended the rollout: it sent ${pluralize(result.elsewhere, 'write')} ` +
          'of this plan. All of its changes are recorded as confirmed.',
      )
    // A resumed rollout has already sent writes, unless it waited before its first wave.
    const sentBefore = continued?.waves.some(({ applied }) => applied !== null) === true
    const status = determineStatus(result, plan, inWaves, sentBefore)
    const message = 'not sent, but that could not be recorded'
    append(
      seen.doubts,
      result.unsettled.map((part) => ({ ...part, message })),
    )
    const { finished, doubts } = seen
    const { overrides = [] } = prepared.grounds
    const { by } = request.locked
    const executed = { plan, result, status, inWaves, finished, doubts, overrides, by }
    traceExecuted(executed)
    return executed
  } catch (error) {
    if (!seen.begun || error instanceof EdgewiseError) throw error
    throw new DefectAfterWrites(error, seen.doubts)
  } finally {
    progress.end()
  }
}

/** Events that decide what is known of a plan under way. */
interface Seen {
  begun: boolean
  doubts: Doubt[]
  finished?: ApplyFinished
}

/** Marks the end of what finishes a rollback by a health check. */
function markTakenBack(event: ApplyEvent, { takesBack = null }: SubmitRequest): ApplyEvent {
  if (takesBack === null || event.type !== 'apply.finished' || event.stopped !== null) return event
  const takenBack = isAllConfirmed(event, event.parts)
  const end = takenBack ? 'rolled back' : 'not all of it could be rolled back'
  return { ...event, takenBack, stopped: `${takesBack}; ${end}` }
}

function notice(seen: Seen, event: ApplyEvent): void {
  seen.begun ||= event.type === 'write.started'
  if (event.type === 'write.in-doubt') seen.doubts.push(event)
  if (event.type === 'apply.finished') seen.finished = event
}

/** Measures what the progress of a plan runs over. */
function measureExtent({ plan, unchanged, inWaves }: PreparedPlan, { config }: Configured): Extent {
  const writes = [...plan.writes, ...unchanged]
  return {
    writes: writes.length,
    parts: new Map(writes.map((write) => [write.id, toPart(write)])),
    callsPerMinute: config.limits.callsPerMinute,
    inWaves,
  }
}

/** Executes a plan in waves, or at once. */
function execute(
  workspace: Plannable,
  { plan, ready, continued, inWaves, serviceTime, grounds }: PreparedPlan,
  { locked, recorded, suspends = false, looksBack, id }: SubmitRequest,
  outside: Outside,
  report: (event: ApplyEvent, budget: CallBudget | null) => void,
): Promise<ApplyResult> {
  const { time } = serviceTime
  if (!inWaves) {
    const { lockedAt } = locked
    const lease = watchStop(locked, outside)
    const options = { outside, time, report, lease, lockedAt, grounds, id: id?.() }
    return executePlan(workspace, ready, locked.store, recorded, options)
  }
  const guard = async () => {
    if (!liftsFreeze(grounds.overrides ?? []))
      refuseFrozen(workspace, time.now() ?? outside.clock.now())
    await refuseStopped(locked.accountStop)
  }
  const own = { outside, serviceTime, report, lock: locked, continued, suspends, guard }
  return runRollout(workspace, plan, locked.store, recorded, { ...own, grounds, looksBack })
}

/** Selects the writes to begin with: none if their wave has to wait for approval. */
function selectFirstWave(plan: Plan, continued: Rollout | null): Plan {
  if (isStopped(plan, continued)) return { ...plan, writes: [] }
  return { ...plan, writes: listFirstWrites(plan) }
}
