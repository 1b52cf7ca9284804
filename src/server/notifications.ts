import type { Settings, Outside } from '../operations/runtime/parts.ts'
import type { ServerMetrics } from '../outlets/metrics/server-metrics.ts'
import type { Decided, StopDecision } from '../core/model/listed-rollout.ts'
import {
  describeApply,
  describeDecision,
  describeNotApplied,
  describeStopDecision,
  findFailureCode,
  type Content,
} from '../outlets/notify/notification.ts'
import { openOutbox, type Delivered, type Outbox } from '../outlets/notify/outbox.ts'
import type { FoundDrift } from '../operations/observation/find-drift.ts'
import type { Executed } from '../operations/submission/executed.ts'
import type { Ports } from '../operations/runtime/ports.ts'
import { hasDrift } from '../outlets/report/drift/json.ts'
import { logFailure, type Logger } from './logger.ts'
import { readsBack, type Committed } from './branch/workspaces.ts'

/** A commit that is not applied, or a rollout that can't resume, and the error. */
export interface Failure {
  kind: 'commit' | 'rollout'
  id: string
  error: unknown
}

export type Notifications = ReturnType<typeof createNotifications>

/**
 * Creates the notifications of a controller, which the database keeps until they are sent. A
 * failure is logged, and changes nothing else.
 */
export function createNotifications(outside: Outside, metrics: ServerMetrics, logger: Logger) {
  const withOutbox = (workspace: Settings, work: (outbox: Outbox) => Promise<void>) =>
    useOutbox(workspace, { outside, logger }, work)
  const reportOnce = (workspace: Settings, content: Content | null) =>
    withOutbox(workspace, (outbox) => outbox.finish(null, [content ?? []].flat()))
  return {
    /** Executes a plan, and notifies of its outcome, or that there is none. */
    aboutRun: async <T extends Executed>(
      workspace: Committed,
      ports: Ports,
      execute: (ports: Ports) => Promise<T>,
    ): Promise<T> => {
      let token: string | null = null
      const onSending = () =>
        withOutbox(workspace, async (outbox) => void (token = await outbox.begin('serve')))
      try {
        const executed = await execute({ ...ports, outside: { ...ports.outside, onSending } })
        const { each, once } = describeRun(executed)
        await withOutbox(workspace, async (outbox) => {
          await outbox.finish(token, each)
          if (once !== null) await outbox.reportOnce(`run ${workspace.commit}`, once.title, once)
        })
        return executed
      } catch (error) {
        const begun: string | null = token
        if (begun !== null) await withOutbox(workspace, (outbox) => outbox.abandon(begun))
        throw error
      }
    },
    /** Notifies of drift that is new, and of drift that is gone. */
    aboutDrift: async (workspace: Settings, { drift }: FoundDrift): Promise<void> => {
      // After a start, the drift of before may be in domains that later checks read.
      if (readsBack(workspace) && (drift.unread ?? 0) > 0 && !hasDrift(drift)) return
      // The same text as that of the command without a selection: both share what was reported.
      const isObserved = workspace.config.serve.drift.observed !== null || readsBack(workspace)
      const scope = JSON.stringify([[], [], isObserved])
      await withOutbox(workspace, (outbox) => outbox.reportDrift(drift, scope))
    },
    /** Notifies once of a commit that is not applied, or of a rollout that can't resume. */
    aboutFailure: async (workspace: Settings, failure: Failure): Promise<void> => {
      const content = describeFailure(failure)
      if (content === null) return
      const { kind, id } = failure
      const topic = kind === 'commit' ? failedCommit : `failed rollout ${id}`
      await withOutbox(workspace, (outbox) => outbox.reportOnce(topic, id, content))
    },
    /** Notifies that all writes of the account are stopped or resumed. */
    aboutStop: (workspace: Settings, decided: StopDecision, by: string): Promise<void> =>
      reportOnce(workspace, describeStopDecision(decided, by)),
    /** Notifies of who has decided about a rollout. */
    aboutDecision: (workspace: Settings, decided: Decided): Promise<void> =>
      reportOnce(workspace, describeDecision(decided)),
    /** Sends what is due. */
    deliver: (workspace: Settings): Promise<void> =>
      withOutbox(workspace, async (outbox) => {
        warnOfLost(await outbox.deliverDue(), logger)
        metrics.setOutbox(await outbox.count())
      }),
  }
}

/** Works with the outbox of a workspace, if it has receivers and a database. */
async function useOutbox(
  workspace: Settings,
  { outside, logger }: { outside: Outside; logger: Logger },
  work: (outbox: Outbox) => Promise<void>,
): Promise<void> {
  if (workspace.config.notify.length === 0) return
  const outbox = openOutbox(workspace, outside)
  if (outbox === null) return
  await work(outbox).catch(logFailure(logger.warn, 'notifications not kept'))
}

/** Topic of the commit that was last reported as not applied. */
const failedCommit = 'failed commit'

function describeFailure({ kind, id, error }: Failure): Content | null {
  const code = findFailureCode(error)
  if (kind === 'rollout') return describeNotApplied(`Rollout ${id} waits`, code)
  return describeNotApplied(`Commit ${id.slice(0, 12)} is not applied`, code, id)
}

/** Sorts what a run says: `each` is sent for each run, `once` for each commit. */
export function describeRun(executed: Executed): { each: Content[]; once: Content | null } {
  const content = describeApply(executed)
  if (content === null) return { each: [], once: null }
  // The same apply is repeated until something of it is confirmed.
  const isRepeated = executed.finished?.confirmed === 0 && !content.events.includes('rollout')
  return isRepeated ? { each: [], once: content } : { each: [content], once: null }
}

function warnOfLost(delivered: Delivered, { warn }: Logger): void {
  const { postponed, givenUp, dropped } = delivered
  if (postponed + givenUp + dropped > 0) warn('notifications not sent', { ...delivered })
}
