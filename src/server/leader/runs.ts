import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { apply } from '../../operations/apply.ts'
import type { DriftRequest } from '../../operations/drift.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import type { Settings } from '../../operations/runtime/workspace-parts.ts'
import { hashDesired } from '../../operations/submission/hash-desired.ts'
import { openState } from '../../operations/runtime/open-state.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import type { Ports } from '../../operations/runtime/ports.ts'
import { repair } from '../../operations/repair.ts'
import { rollback } from '../../operations/rollback.ts'
import type { Executed } from '../../operations/submission/executed.ts'
import { failSpan, getRoot } from '../../core/model/tracing.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { summarizeDrift, type DriftSummary } from '../../outlets/report/drift/json.ts'
import { listRollout } from '../../engine/rollout/decide.ts'
import { buildRepairRequest, compareDrift, type DriftListener } from './compare-drift.ts'
import { createFleetReader } from './fleet-reader.ts'
import type { Logger } from '../logger.ts'
import type { Failure, Notifications } from '../notifications.ts'
import { observeRun } from './observe-run.ts'
import type { Branch } from '../branch/branch.ts'
import { refuseInvalid, refuseMoved, type Committed, type Identity } from '../branch/workspaces.ts'

/** Ports of runs: those of the operations, and what comes from files and programs. */
export interface RunPorts extends Ports {
  loadCommit(branch: Branch, commit: string, outside: Outside): Promise<Committed>
  buildDriftRequest(workspace: Settings, outside: Outside): DriftRequest
}

/** What runs work with. */
export interface RunContext {
  ports: RunPorts
  branch: Branch
  identity: Identity
  metrics: ServerMetrics
  logger: Logger
  notifications: Notifications
  /** Listens to what drift checks find, beside the receivers of notifications. */
  onDrift: DriftListener
}

/** Loads the workspace at the tip of the branch. */
type LoadHead = () => Promise<Committed>

/** How a step of a rollout ended. */
export interface RolloutStep {
  /** Time until the next one, ms; null if the rollout has ended or waits for a decision. */
  waitMs: number | null
  status: Executed['status'] | 'none'
}

/** How the apply of a commit ended, and why not everything is applied; null if it is. */
export interface Outcome {
  status: Executed['status']
  message: string | null
}

/** Time to wait for the lock of another command, seconds; shorter while rollouts would wait. */
const [lockTimeout, shortLockTimeout] = [600, 30]
/** Number of the commits loaded last whose secrets are removed from the log. */
const maxScrubs = 5
/** Wait before a rollback that is not finished goes on, ms. */
const retryMs = 60_000
const isUnfinished = ({ state }: Rollout) => state === 'open' || state === 'rolling-back'
/** States in which a rollout waits for somebody. */
export const undecided = ['waiting-for-approval', 'paused']

export type Runs = ReturnType<typeof createRuns>

/** Creates the operations of a controller: those of the commands, with metrics, log and notices. */
export function createRuns(context: RunContext) {
  const { ports, branch, identity, metrics, logger, notifications, onDrift } = context
  const { clock, signal, tracer } = ports.outside
  const fleet = createFleetReader(() => clock.now())
  const listeners = [onDrift, notifications.aboutDrift]
  const comparing = { ...ports, fleet, metrics, logger, listeners }
  const scrubs = new Map<string, (text: string) => string>()
  /** Loads a commit; its secrets stay out of the log from then on. */
  const load = async (commit: string): Promise<Committed> => {
    const workspace = await ports.loadCommit(branch, commit, ports.outside)
    // The secrets of other commits, such as that of an open rollout, stay out of the log, too.
    scrubs.delete(commit)
    scrubs.set(commit, (text) => workspace.scrub(text))
    for (const oldest of [...scrubs.keys()].slice(0, -maxScrubs)) scrubs.delete(oldest)
    logger.setScrub((text) => [...scrubs.values()].reduce((clean, scrub) => scrub(clean), text))
    refuseMoved(workspace, identity)
    return workspace
  }
  const measure = async <T>(
    kind: 'apply' | 'rollout' | 'drift',
    findStatus: (result: T) => string,
    work: () => Promise<T>,
  ): Promise<T> => {
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
  /** Executes a plan with metrics and notifications. */
  const execute = async <T extends Executed>(
    workspace: Committed,
    work: (run: Ports) => Promise<T>,
    rollout?: string,
  ): Promise<T> => {
    const run = observeRun(ports, workspace, metrics, rollout)
    const executed = await notifications.aboutRun(workspace, run, work)
    metrics.setConfirmations(executed.result.recorded, clock.now() / 1000)
    return executed
  }
  /** Finds the manifests that a rollout began with: at its commit, or at the tip. */
  const findManifests = async (rollout: Rollout, loadHead: LoadHead): Promise<Committed> => {
    const matches = (each: Committed) => {
      const { hashDomain } = hashDesired(each)
      return Object.entries(rollout.desiredHashes).every(
        ([name, hash]) => hashDomain(name) === hash,
      )
    }
    if (rollout.commit !== null) {
      try {
        const own = await load(rollout.commit)
        if (matches(own)) return own
      } catch (error) {
        // The branch may have been forced, so that nobody has the commit any more.
        if (!(error instanceof EdgewiseError) || !matches(await loadHead())) throw error
      }
    }
    const head = await loadHead()
    if (matches(head)) return head
    throw new EdgewiseError(
      'rollout-open',
      `neither commit ${rollout.commit?.slice(0, 12) ?? '(unknown)'} nor the tip of the branch ` +
        'has the manifests that it began with',
      'Continue it where it was begun with "edgewise apply", or end it with ' +
        `"edgewise rollout abort ${rollout.id}".`,
    )
  }
  /** Selects the domains outside of unfinished rollouts; an empty target selects all. */
  const selectFree = async (workspace: Committed) => {
    const { store } = await openState(workspace, ports.outside)
    const recorded = await store.load()
    const open = (await store.listRollouts()).filter(isUnfinished)
    const taken = new Set(open.flatMap(({ desiredHashes }) => Object.keys(desiredHashes)))
    const all = [...new Set([...workspace.desired.keys(), ...recorded.keys()])]
    const target = taken.size === 0 ? [] : all.filter((domain) => !taken.has(domain))
    return { open, taken, target, areAllTaken: taken.size > 0 && target.length === 0 }
  }
  const applyFree = async (workspace: Committed): Promise<Outcome> => {
    const { open, taken, target, areAllTaken } = await selectFree(workspace)
    const [left, ids] = [pluralize(taken.size, 'domain'), open.map(({ id }) => id).join(', ')]
    const message = `${left} left out until the end of rollout ${ids}`
    const waiting: Outcome = { status: 'waiting', message }
    if (areAllTaken) return waiting
    const patience = open.length === 0 ? lockTimeout : shortLockTimeout
    const request = { target, suspends: true, lockTimeout: patience }
    const { status, plan, result } = await execute(workspace, (run) =>
      apply(workspace, request, run),
    )
    metrics.setPlan(plan)
    if (status === 'done' && taken.size > 0) return waiting
    const reason = result.stopped ?? result.unrecorded ?? describeHeld(plan.summary)
    return { status, message: reason }
  }
  const takeStep = async (
    id: string,
    settings: Settings,
    loadHead: LoadHead,
  ): Promise<RolloutStep> => {
    const { store } = await openState(settings, ports.outside)
    const rollout = (await store.listRollouts()).find((each) => each.id === id)
    if (
      rollout === undefined ||
      !isUnfinished(rollout) ||
      undecided.includes(listRollout(rollout, false).state)
    )
      return { waitMs: null, status: 'none' }
    if (rollout.state === 'rolling-back') {
      // Its domains stay on hold while the tip asks for the same.
      const head = await loadHead()
      const request = { apply: id, lockTimeout }
      const { status } = await execute(head, (run) => rollback(head, request, run), id)
      return { waitMs: status === 'done' ? null : retryMs, status }
    }
    const workspace = await findManifests(rollout, loadHead)
    refuseInvalid(workspace)
    const { desiredHashes, items, released } = rollout
    const target = Object.keys(desiredHashes)
    const request = { target, items, released, suspends: true, lockTimeout }
    const { status, result } = await execute(workspace, (run) => apply(workspace, request, run), id)
    return { waitMs: result.waitMs ?? null, status }
  }
  return {
    load,
    /**
     * Applies a workspace, up to where a rollout has to wait. Domains of unfinished rollouts are
     * left out: those continue by themselves, and the others need not wait for them.
     */
    apply: async (workspace: Committed): Promise<Outcome> => {
      refuseInvalid(workspace)
      return measure(
        'apply',
        ({ status }) => status,
        () => applyFree(workspace),
      )
    },
    /**
     * Takes the next step of a rollout, with the manifests of its own commit.
     *
     * @param loadHead loads the workspace at the tip of the branch
     */
    advance: (id: string, settings: Settings, loadHead: LoadHead): Promise<RolloutStep> => {
      getRoot(tracer)?.setAttributes({ 'edgewise.rollout': id })
      return measure(
        'rollout',
        ({ status }) => status,
        () => takeStep(id, settings, loadHead),
      )
    },
    /** Looks for drift, and writes again what differs if the workspace is configured so. */
    compare: (workspace: Committed, reload: () => Promise<Committed>) =>
      measure(
        'drift',
        ({ live, unanswered }) => (live + unanswered > 0 ? 'differs' : 'same'),
        async (): Promise<DriftSummary> => {
          const found = await compareDrift(workspace, comparing)
          const summary = summarizeDrift(found.drift)
          if (!workspace.config.serve.drift.repair || summary.live === 0) return summary
          const again = await reload()
          // Domains of unfinished rollouts are repaired after their ends.
          const { target, areAllTaken } = await selectFree(again)
          if (areAllTaken) return summary
          const request = buildRepairRequest(again, found, target, comparing)
          if (request === null) return summary
          const mending = { ...request, suspends: true, lockTimeout }
          await execute(again, (run) => repair(again, mending, run))
          return summary
        },
      ),
    deliver: (settings: Settings) => notifications.deliver(settings),
    /** Notifies once of a failure, as the workspace is configured. */
    reportFailure: (settings: Settings, failure: Failure) =>
      notifications.aboutFailure(settings, failure),
    /** Logs and counts an error, adds it to the trace, and returns its message. */
    report: (what: string, error: unknown): string => {
      const isExpected = error instanceof EdgewiseError
      const code = isExpected ? error.code : 'defect'
      metrics.countError(code)
      failSpan(getRoot(tracer), signal.aborted ? 'interrupted' : code)
      const message = error instanceof Error ? error.message : String(error)
      const stack = error instanceof Error ? (error.stack ?? '') : ''
      logger.error(`${what}: ${message}`, { code, detail: isExpected ? error.hint : stack })
      return message
    },
  }
}

function describeHeld({ held }: Plan['summary']): string | null {
  if (held === 0) return null
  return (
    `${pluralize(held, 'change')} on hold: a rollout was stopped. Change the manifests, or ` +
    'run "edgewise apply --retry-held"'
  )
}
