import type { ServerMetrics } from '../metrics/server-metrics.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { JsonObject } from '../model/json.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import {
  abortRollout,
  approveRollout,
  hasRollout,
  listRollouts,
  pauseRollout,
} from '../operations/rollouts.ts'
import type { Leadership } from '../state/postgres/leadership.ts'
import type { Branch } from './branch.ts'
import type { Controller } from './controller.ts'
import { createLogDialogue } from './log-dialogue.ts'
import type { Logger } from './logger.ts'
import type { PageSource } from './pages/page-source.ts'
import type { Findings, Reconciler } from './reconciler.ts'

/** Where this replica stands. */
export interface Position {
  /** Fencing number of its term; null while it does not lead. */
  term: number | null
  /** Last sign that its loop works, by the monotonic clock, ms. */
  tickMs: number
}

interface ControllerContext {
  /** The workspace as it was when the controller began. */
  workspace: LoadedWorkspace
  branch: Branch
  reconciler: Reconciler
  leadership: Leadership
  metrics: ServerMetrics
  position: Position
  logger: Logger
  outside: Outside
  /** What the pages show; `forget`: that something has changed. */
  pages: PageSource & { forget(): void }
  /** Returns whether work runs without progress. */
  isHung(): boolean
  pingMs: number
}

/** Age from which the last sign of the loop counts as a failure, ms: the database may be away. */
const maxTickMs = 5 * 60_000
/** Reason why a replica that was interrupted, or whose term is over, is not ready. */
const ending = 'this replica ends'
/** Time to wait for the lock before a decision is refused, seconds. */
const lockTimeout = 10

/** Creates what the HTTP interface controls, and the sleep between rounds that it may end. */
export function createController(
  context: ControllerContext,
): Controller & { sleep(ms: number): Promise<void> } {
  const { workspace, branch, reconciler, leadership, metrics, position, logger, outside } = context
  const { clock, signal } = outside
  const ports = { outside, dialogue: createLogDialogue(logger) }
  let nap = new AbortController()
  // Made once for each nap that is ended: the signal of the process remembers them all.
  let end = AbortSignal.any([signal, nap.signal])
  const decide = { approve: approveRollout, abort: abortRollout, pause: pauseRollout }
  const wakeLeader = () => {
    if (position.term !== null) return nap.abort()
    leadership.wake().catch((error: unknown) => {
      if (!(error instanceof EdgewiseError)) throw error
      logger.warn(`the leader could not be woken: ${error.message}`)
    })
  }
  return {
    metrics,
    status: async () => ({
      format: 'edgewise.status/1',
      role: position.term === null ? 'standby' : 'leader',
      term: position.term,
      workspace: workspace.config.id,
      branch: { location: branch.location, name: branch.name },
      ...copy(reconciler.found),
    }),
    plan: context.pages.planJson,
    listRollouts: () => listRollouts(workspace, outside),
    pages: context.pages,
    decide: async (verb, rollout, step) => {
      if (!(await hasRollout(workspace, rollout, outside))) return null
      const seen = step === undefined ? {} : { step }
      const decided = await decide[verb](workspace, { rollout, lockTimeout, ...seen }, ports)
      context.pages.forget()
      wakeLeader()
      return decided
    },
    poke: wakeLeader,
    isHealthy: () => {
      if (clock.monotonic() - position.tickMs >= maxTickMs)
        return 'the election of the leader has stopped'
      return context.isHung() ? 'the work of the leader makes no progress' : null
    },
    findUnready: async () => {
      if (signal.aborted) return ending
      const { term } = position
      const ping = leadership.isCurrent(term ?? 0).then(
        (isCurrent) => (term === null || isCurrent ? null : ending),
        (error: unknown) => {
          if (!(error instanceof EdgewiseError)) throw error
          return 'the database can not be reached'
        },
      )
      const timeout = clock.sleep(context.pingMs, signal).then(() => 'the database does not answer')
      return Promise.race([ping, timeout])
    },
    sleep: async (ms) => {
      await clock.sleep(ms, end)
      if (nap.signal.aborted) {
        nap = new AbortController()
        end = AbortSignal.any([signal, nap.signal])
        reconciler.hurry()
      }
    },
  }
}

/** Copies findings into JSON. */
function copy({ applied, drift, ...others }: Findings): JsonObject {
  return {
    ...others,
    applied: applied === null ? null : { ...applied },
    drift: drift === null ? null : { ...drift },
  }
}
