import type { SecretHider } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { apply } from '../../operations/apply.ts'
import type { DriftRequest } from '../../operations/drift.ts'
import type { JsonObject } from '../../core/model/json.ts'
import { selectDefinite } from '../../core/model/plan.ts'
import type { Settings, Configured, Outside } from '../../operations/runtime/parts.ts'
import { openState } from '../../operations/runtime/open-state.ts'
import type { Ports, EventListener } from '../../operations/runtime/ports.ts'
import { hashDesired } from '../../operations/submission/hash-desired.ts'
import { isSuperseded, describeWorse } from '../../engine/rollout/conflicts.ts'
import { refreshTraffic } from '../../operations/refresh-traffic.ts'
import { repair } from '../../operations/repair.ts'
import { rollback } from '../../operations/rollback.ts'
import { findStop } from '../../operations/stop.ts'
import type { Executed } from '../../operations/submission/executed.ts'
import { failSpan, getRoot } from '../../core/model/telemetry.ts'
import { summarizeDrift, type DriftSummary } from '../../outlets/report/drift/json.ts'
import {
  buildRepairRequest,
  compareDrift,
  type Comparing,
  type DriftListener,
  createFleetReader,
} from './compare-drift.ts'
import { createActCounter } from './count-acts.ts'
import { describeTaken, selectFree } from './free-domains.ts'
import { createLoader, type LoadContext, type LoadPorts } from './load-commits.ts'
import type { Logger } from '../logger.ts'
import type { Failure, Notifications } from '../notifications.ts'
import { findManifests, findReady } from './rollout-step.ts'
import { refuseInvalid, type Committed } from '../branch/workspaces.ts'

/** Ports of runs: those of the operations, and what comes from files and programs. */
export interface RunPorts extends Ports, LoadPorts {
  buildDriftRequest(workspace: Settings, outside: Outside): DriftRequest
}

/** What runs work with. */
export interface RunContext extends LoadContext {
  ports: RunPorts
  metrics: ServerMetrics
  logger: Logger
  notifications: Notifications
  /** Listens to what drift checks find, beside the receivers of notifications. */
  onDrift: DriftListener
}

/** How a step of a rollout ended. */
export interface RolloutStep {
  /** Time until the next one, ms; null if the rollout has ended or waits for a decision. */
  waitMs: number | null
  status: Executed['status'] | 'none'
}

/** How the apply of a commit ended; `message`, `left` as in `Findings`. */
export interface CommitEnd {
  status: Executed['status']
  message: string | null
  left?: string[]
}

/** Time to wait for the lock of another command, seconds; shorter while rollouts would wait. */
const [lockTimeout, shortLockTimeout] = [600, 30]
/** Wait before a rollback that is not finished goes on, ms. */
const retryMs = 60_000

export type Runs = ReturnType<typeof createRuns>

/** Creates the operations of a controller: those of the commands, with metrics, log and notices. */
export function createRuns(context: RunContext) {
  const { ports, metrics, logger, notifications, onDrift } = context
  const { clock, signal } = ports.outside
  const fleet = createFleetReader(() => clock.now())
  const listeners = [onDrift, notifications.aboutDrift]
  const comparing = { ...ports, fleet, metrics, logger, listeners }
  const load = createLoader(context)
  const countActs = createActCounter(ports.outside, metrics, logger)
  return {
    /** Loads a commit; its secrets stay out of the log from then on. */
    load,
    /**
     * Applies a workspace, up to where a rollout has to wait. Domains of unfinished rollouts are
     * left out: those continue by themselves, and the others need not wait for them.
     */
    apply: async (workspace: Committed): Promise<CommitEnd> => {
      refuseInvalid(workspace)
      return measure('apply', context, () => applyFree(workspace, context), getStatus)
    },
    /**
     * Takes the next step of a rollout, with the manifests of its own commit.
     *
     * @param loadHead loads the workspace at the tip of the branch
     */
    advance: (
      id: string,
      settings: Settings,
      loadHead: () => Promise<Committed>,
    ): Promise<RolloutStep> => {
      getRoot()?.setAttributes({ 'edgewise.rollout': id })
      const take = () => takeStep(id, settings, { load, loadHead }, context)
      return measure('rollout', context, take, getStatus)
    },
    /** Looks for drift, and writes again what differs if the workspace is configured so. */
    compare: (workspace: Committed, reload: () => Promise<Committed>): Promise<DriftSummary> =>
      measure(
        'drift',
        context,
        () => compareAndRepair(workspace, reload, comparing, context),
        ({ live, unanswered }) => (live + unanswered > 0 ? 'differs' : 'same'),
      ),
    /** Counts the traffic of domains if it is a day old; logs a failure. */
    countTraffic: (workspace: Committed): Promise<void> => countTraffic(workspace, context),
    deliver: async (settings: Settings) => {
      await notifications.deliver(settings)
      await countActs(settings)
    },
    /** Notifies once of a failure, as the workspace is configured. */
    reportFailure: (settings: Settings, failure: Failure) =>
      notifications.aboutFailure(settings, failure),
    /** Logs and counts an error, adds it to the trace, and returns its message. */
    report: (what: string, error: unknown, about: JsonObject = {}): string => {
      const described = describeError(error, logger)
      metrics.countError(described.code)
      failSpan(getRoot(), signal.aborted ? 'interrupted' : described.code)
      logger.error(what, { ...about, ...described })
      return described.error
    },
  }
}

/** Records how long work took, and how it ended. */
async function measure<T>(
  kind: 'apply' | 'rollout' | 'drift',
  { ports, metrics }: Pick<RunContext, 'ports' | 'metrics'>,
  work: () => Promise<T>,
  findStatus: (result: T) => string,
): Promise<T> {
  const { clock } = ports.outside
  const startMs = clock.monotonic()
  const record = (status: string) =>
    metrics.recordApply(kind, status, (clock.monotonic() - startMs) / 1000)
  try {
    const result = await work()
    record(findStatus(result))
    return result
  } catch (error) {
    record('failed')
    throw error
  }
}

function getStatus({ status }: { status: string }): string {
  return status
}

/** Executes a plan with metrics and notifications; `rollout`: the id of the one it continues. */
async function execute<T extends Executed>(
  workspace: Committed,
  { ports, metrics, notifications }: Pick<RunContext, 'ports' | 'metrics' | 'notifications'>,
  work: (run: Ports) => Promise<T>,
  rollout?: string,
): Promise<T> {
  const run = observeRun(ports, workspace, metrics, rollout)
  const executed = await notifications.aboutRun(workspace, run, work)
  metrics.setConfirmations(executed.result.recorded, ports.outside.clock.now() / 1000)
  return executed
}

async function loadFree(workspace: Committed, outside: Outside) {
  const { store } = await openState(workspace, outside)
  const recorded = await store.load()
  const { hashDomain, hashItem } = hashDesired(workspace)
  const rollouts = await store.listRollouts()
  const free = selectFree(
    [...workspace.desired.keys(), ...recorded.keys()],
    rollouts.filter((rollout) => !isSuperseded(rollout, hashDomain)),
  )
  return { ...free, worse: describeWorse(rollouts, hashItem) }
}

async function applyFree(workspace: Committed, context: RunContext): Promise<CommitEnd> {
  const free = await loadFree(workspace, context.ports.outside)
  const waiting = { status: 'waiting', message: describeTaken(free) } as const
  if (free.areAllTaken) return { ...waiting, left: free.worse }
  const patience = free.rollouts.length === 0 ? lockTimeout : shortLockTimeout
  const request = { target: free.target, suspends: true, lockTimeout: patience }
  const { status, plan, result } = await execute(workspace, context, (run) =>
    apply(workspace, request, run),
  )
  context.metrics.setPlan(selectDefinite(plan))
  const held = (plan.onHold ?? []).map(({ text }) => text)
  const left = [...free.worse, ...held]
  if (status === 'done' && free.taken > 0) return { ...waiting, left }
  const message = result.stopped ?? result.unrecorded ?? (held.join('; ') || null)
  return { status, message, left }
}

/** Loads commits: one of them, and the one that rollouts go by. */
interface Loads {
  load(commit: string): Promise<Committed>
  loadHead(): Promise<Committed>
}

async function takeStep(
  id: string,
  settings: Settings,
  { load, loadHead }: Loads,
  context: RunContext,
): Promise<RolloutStep> {
  const { store } = await openState(settings, context.ports.outside)
  const rollout = findReady(await store.listRollouts(), id)
  if (rollout === null) return { waitMs: null, status: 'none' }
  if (rollout.state === 'rolling-back') {
    // Its domains stay on hold while the tip asks for the same.
    const head = await loadHead()
    const request = { apply: id, lockTimeout }
    const undo = async (run: Ports) => ({ ...(await rollback(head, request, run)), inWaves: true })
    const { status } = await execute(head, context, undo, id)
    return { waitMs: status === 'done' ? null : retryMs, status }
  }
  const workspace = await findManifests(rollout, load, loadHead)
  refuseInvalid(workspace)
  const { desiredHashes, items, released } = rollout
  const target = Object.keys(desiredHashes)
  const request = { target, items, released, suspends: true, looksBack: id, lockTimeout }
  const send = (run: Ports) => apply(workspace, request, run)
  const { status, result } = await execute(workspace, context, send, id)
  return { waitMs: result.waitMs ?? null, status }
}

async function compareAndRepair(
  workspace: Committed,
  reload: () => Promise<Committed>,
  comparing: Comparing,
  context: RunContext,
): Promise<DriftSummary> {
  const found = await compareDrift(workspace, comparing)
  const summary = summarizeDrift(found.drift)
  if (!workspace.config.serve.drift.repair || summary.live === 0) return summary
  if ((await findStop(workspace, comparing.outside)) !== null) return summary
  const again = await reload()
  // Domains of unfinished rollouts are repaired after their ends.
  const { target, areAllTaken } = await loadFree(again, context.ports.outside)
  if (areAllTaken) return summary
  const request = buildRepairRequest(again, found, target, comparing)
  if (request === null) return summary
  const mending = { ...request, suspends: true, lockTimeout }
  await execute(again, context, (run) => repair(again, mending, run))
  return summary
}

async function countTraffic(
  workspace: Committed,
  { ports, logger }: Pick<RunContext, 'ports' | 'logger'>,
): Promise<void> {
  if (workspace.desired.size === 0) return
  const progress = { report: () => undefined, end: () => undefined }
  const counting = { ...ports, onWait: () => undefined, startProgress: () => progress }
  try {
    logger.info('traffic counted', { ...(await refreshTraffic(workspace, [], counting)) })
  } catch (error) {
    logger.warn('traffic not counted', describeError(error, logger))
  }
}

/** A defect may quote anything. */
function describeError(error: unknown, { scrub }: Pick<SecretHider, 'scrub'>) {
  if (error instanceof EdgewiseError)
    return { code: error.code, error: error.message, detail: error.hint }
  const { message, stack = '' } = error instanceof Error ? error : { message: String(error) }
  const [shown = '', detail = ''] = [message, stack].map((text) => scrub(markForeign(text)))
  return { code: 'defect' as const, error: shown, detail }
}

/**
 * Creates the ports of one run: those of the controller, which also record its metrics.
 *
 * @param id of the rollout, if it continues one
 */
function observeRun(
  { outside, listeners = [], ...ports }: Ports,
  { config }: Configured,
  metrics: ServerMetrics,
  id?: string,
): Ports {
  const { clock } = outside
  let lockingMs: number | null = null
  const onPhase: Outside['onPhase'] = (phase) => {
    if (phase.name === 'locking') lockingMs = clock.monotonic()
    else if (lockingMs !== null) {
      metrics.recordLockWait((clock.monotonic() - lockingMs) / 1000)
      lockingMs = null
    }
    outside.onPhase?.(phase)
  }
  const observe: EventListener = (event, callsLeft) => {
    metrics.recordEvent(event, id)
    if (callsLeft !== null) metrics.setBudget(callsLeft, config.limits.callsPerMinute)
  }
  return { ...ports, outside: { ...outside, onPhase }, listeners: [observe, ...listeners] }
}
