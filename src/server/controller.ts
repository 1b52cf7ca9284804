import type { ServerMetrics } from '../outlets/metrics/server-metrics.ts'
import type { Clock } from '../core/model/time/clock.ts'
import { throwDefect } from '../core/model/edgewise-error.ts'
import type { Identity } from '../core/model/people/identity.ts'
import type { Action } from '../core/model/people/roles.ts'
import type { Json } from '../core/model/json.ts'
import type { Decided, Findings, StopDecision } from '../core/model/listed-rollout.ts'
import type { LoadedWorkspace } from '../operations/runtime/load-workspace.ts'
import type { Outside } from '../operations/runtime/parts.ts'
import { decideRollout, findRollout, listRollouts } from '../operations/rollouts.ts'
import { createRefusal } from '../operations/people/decide.ts'
import { findStop, resumeAll, stopAll } from '../operations/stop.ts'
import { describeStopped } from '../outlets/report/apply/rollouts-text.ts'
import type { Branch } from './branch/branch.ts'
import { createLogDialogue } from './log-dialogue.ts'
import type { Shares } from './http/shares.ts'
import { logFailure, type Logger } from './logger.ts'
import type { Notifications } from './notifications.ts'
import { createRefusalLog, type RefusalLog } from './people/refusal-log.ts'
import type { People } from './people/people.ts'
import type { Rights } from './people/rights.ts'
import type { PageSource } from './pages/create-page-source.ts'
import { type Position, findRole } from './leader/position.ts'
import type { Reconciler } from './leader/reconciler.ts'
import type { SharedFindings } from './leader/shared-findings.ts'
import type { Leadership } from '../state/postgres/leadership.ts'

/** Decisions that the HTTP interface accepts. */
export const decisions = ['approve', 'pause', 'resume', 'abort'] as const
export type DecisionName = (typeof decisions)[number]
/** Decisions about all writes of the account. */
export const allDecisions = ['stop', 'resume'] as const
export type AllDecisionName = (typeof allDecisions)[number]

/** The controller behind the HTTP server. Failures are EdgewiseErrors; others are defects. */
export type Controller = ReturnType<typeof createController>

/** What the routes need. */
export interface RouteContext {
  controller: Controller
  clock: Pick<Clock, 'now' | 'sleep' | 'monotonic'>
  /** Undefined or empty: the routes that need it are refused. */
  webhookSecret: string | undefined
  token: string | undefined
  /** Absent: only the token shows who somebody is. */
  people?: People
  shares: Shares
  /** Aborts when the connection of the request has closed. */
  signal: AbortSignal
}

interface ControllerContext {
  /** The workspace as it was when the controller began. */
  workspace: LoadedWorkspace
  branch: Branch
  reconciler: Pick<Reconciler, 'found'>
  leadership: Leadership
  findings: Pick<SharedFindings, 'load'>
  metrics: ServerMetrics
  position: Position
  logger: Logger
  outside: Outside
  /** What the pages show; `forget`: that something has changed. */
  pages: PageSource & { forget(): void }
  notifications: Pick<Notifications, 'aboutStop' | 'aboutDecision'>
  rights: Rights
  /** Returns whether work runs without progress. */
  isHung(): boolean
  pingMs: number
  /** Fetches the branch and looks at the rollouts soon. */
  hurry(): void
}

/** Age from which the last sign of the loop counts as a failure, ms: the database may be away. */
const maxTickMs = 5 * 60_000
/** Reason why a replica that was interrupted, or whose term is over, is not ready. */
const ending = 'this replica ends'
/** Time to wait for the lock before a decision is refused, seconds. */
const lockTimeout = 10

/** Creates the controller: what the HTTP interface reads and decides. */
export function createController(context: ControllerContext) {
  const { workspace, branch, reconciler, leadership, metrics, position, logger, outside } = context
  const { clock, signal } = outside
  const wakeLeader = () => {
    if (position.term !== null) return context.hurry()
    leadership.wake().catch(logFailure(logger.warn, 'leader not woken'))
  }
  const refusals = createRefusalLog(logger, metrics)
  const refuse = createRefuse(context, refusals)
  return {
    refuse,
    metrics,
    auth: workspace.config.serve.auth,
    rights: context.rights,
    logger,
    noteRefusal: refusals.record,
    /** Describes the controller, the branch and the last apply. */
    status: async (): Promise<Json> => ({
      format: 'edgewise.status/1',
      role: findRole(position, signal),
      term: position.term,
      database: position.awayMs === null ? 'reached' : 'away',
      workspace: workspace.config.id,
      branch: { location: branch.location, name: branch.name },
      ...(await context.findings.load()),
    }),
    /** Returns the plan of the fetched commit, as JSON; at most a minute old. */
    plan: context.pages.planJson,
    /** Lists the unfinished rollouts, first to last. */
    listRollouts: () => listRollouts(workspace, outside),
    ...createStopDecisions(context, wakeLeader, refuse),
    /** What the pages show. */
    pages: context.pages as PageSource,
    ...createRolloutDecisions(context, wakeLeader, refusals),
    /** Fetches the branch soon; never throws, and several calls are one fetch. */
    poke: wakeLeader,
    /** Returns null while the process works, otherwise the reason; without names of domains. */
    isHealthy: (): string | null => {
      const { found } = reconciler
      return findFault({ nowMs: clock.monotonic(), position, found, isHung: context.isHung() })
    },
    /** Returns null if the replica can serve, otherwise the reason; without names of domains. */
    findUnready: async (): Promise<string | null> => {
      if (signal.aborted) return ending
      if (position.isCutOff) return 'the branch can not be fetched here, but by another replica'
      const timeout = clock.sleep(context.pingMs, signal).then(() => 'the database does not answer')
      return Promise.race([ping(leadership, position.term), timeout])
    },
  }
}

/** Creates what refuses what somebody may not do, before anything of the request is read. */
function createRefuse({ workspace, outside, rights }: ControllerContext, refusals: RefusalLog) {
  return async (identity: Identity, action: Action, id: string | null): Promise<void> => {
    const rollout = id === null ? null : await findRollout(workspace, id, outside)
    const reason = await rights.explain(identity, action, rollout)
    if (reason === null) return
    refusals.record(identity, action, id, reason)
    throw createRefusal(reason)
  }
}

/** Creates what decides about rollouts. */
function createRolloutDecisions(
  { workspace, logger, outside, pages, notifications, rights }: ControllerContext,
  wakeLeader: () => void,
  refusals: RefusalLog,
) {
  const ports = { outside, dialogue: createLogDialogue(logger) }
  return {
    /**
     * Decides about a rollout; null if none is recorded under this id.
     *
     * @param step that somebody saw before the decision; absent: the current one
     * @throws EdgewiseError `not-allowed`, `usage` when it can't be decided now, `locked`,
     *   `unavailable`
     */
    decide: async (
      verb: DecisionName,
      id: string,
      identity: Identity,
      step?: string,
    ): Promise<Decided | null> => {
      const rollout = await findRollout(workspace, id, outside)
      if (rollout === null) return null

      const rules = await rights.findRulesFor(identity, verb, rollout)
      const decider = { identity, rules }
      const request = { rollout: id, lockTimeout, decider, step }
      const decide = () => decideRollout(verb, workspace, request, ports)
      const decided = await refusals.note(identity, verb, id, decide)
      logger.info('rollout decided', {
        rollout: id,
        decision: decided.verb,
        by: identity.name,
        knownBy: identity.knownBy,
      })
      pages.forget()
      wakeLeader()
      await notifications.aboutDecision(workspace, decided)
      return decided
    },
  }
}

/** Creates what finds and decides the stop of all writes of the account. */
function createStopDecisions(
  { workspace, logger, outside, pages, notifications }: ControllerContext,
  wakeLeader: () => void,
  refuse: ReturnType<typeof createRefuse>,
) {
  return {
    findStop: () => findStop(workspace, outside),
    /**
     * Stops all writes of the account, or lets them go on.
     *
     * @param about why they are stopped; name of the stop that somebody saw before it is lifted
     * @throws EdgewiseError `not-allowed`, `usage` when it can't be decided so
     */
    decideAll: async (
      verb: AllDecisionName,
      about: { reason?: string; seen?: string },
      identity: Identity,
    ): Promise<StopDecision> => {
      await refuse(identity, `${verb}-all`, null)
      const decide = verb === 'stop' ? stopAll : resumeAll
      const decided = await decide(workspace, { ...about, identity }, outside)
      logger.warn('stop of writes decided', {
        decision: describeStopped(decided),
        by: identity.name,
        knownBy: identity.knownBy,
      })
      pages.forget()
      wakeLeader()
      await notifications.aboutStop(workspace, decided, identity.name)
      return decided
    },
  }
}

/** What the health of a process depends on; `nowMs` by the monotonic clock. */
interface Vitals {
  nowMs: number
  position: Pick<Position, 'tickMs' | 'awayMs'>
  found: Pick<Findings, 'working' | 'unattended'>
  isHung: boolean
}

/** Finds why a process does not work; null if it does. */
export function findFault({ nowMs, position, found, isHung }: Vitals): string | null {
  if (nowMs - position.tickMs >= maxTickMs) return 'the election of the leader has stopped'
  const isIdle = position.awayMs === null && found.working === null
  if (isIdle && found.unattended.length > 0) return 'nothing works on a rollout that is due'
  return isHung ? 'the work of the leader makes no progress' : null
}

/** Asks the database for the term of this replica; returns why it can't serve, null if it can. */
async function ping(leadership: Leadership, term: number | null): Promise<string | null> {
  try {
    const isCurrent = await leadership.isCurrent(term ?? 0)
    return term === null || isCurrent ? null : ending
  } catch (error) {
    throwDefect(error)
    return 'the database can not be reached'
  }
}
