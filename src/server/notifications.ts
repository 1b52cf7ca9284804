import type { ServerMetrics } from '../metrics/server-metrics.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { pluralize } from '../model/words.ts'
import {
  describeApply,
  describeInvalid,
  describeNotApplied,
  findFailureCode,
  type Content,
} from '../notify/notification.ts'
import { openOutbox, type Outbox } from '../notify/outbox.ts'
import type { FoundDrift } from '../operations/find-drift.ts'
import { findStatus } from '../operations/finished-status.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import type { Ports } from '../operations/ports.ts'
import type { Executed } from '../operations/submit-plan.ts'
import { hasDrift } from '../report/drift/json.ts'
import type { Logger } from './logger.ts'
import { readsBack } from './reads-back.ts'
import { isAboutCommit, type Committed } from './workspaces.ts'

/** Notifies the receivers of a workspace. A failure is logged, and changes nothing else. */
export interface Notifications {
  /** Executes a plan, and notifies of its outcome, or that there is none. */
  aboutRun<T extends Executed>(
    workspace: Committed,
    ports: Ports,
    execute: (ports: Ports) => Promise<T>,
  ): Promise<T>
  /** Notifies of drift that is new, and of drift that is gone. */
  aboutDrift(workspace: LoadedWorkspace, found: FoundDrift): Promise<void>
  /** Notifies once of a commit that is not applied, or of a rollout that can't resume. */
  aboutFailure(workspace: LoadedWorkspace, failure: Failure): Promise<void>
  /** Sends what is due. */
  deliver(workspace: LoadedWorkspace): Promise<void>
}

/** A commit that is not applied, or a rollout that can't resume, and the error. */
export interface Failure {
  kind: 'commit' | 'rollout'
  id: string
  error: unknown
}

/** Creates the notifications of a controller, which the database keeps until they are sent. */
export function createNotifications(
  outside: Outside,
  metrics: ServerMetrics,
  logger: Logger,
): Notifications {
  const withOutbox = async (
    workspace: LoadedWorkspace,
    work: (outbox: Outbox) => Promise<void>,
  ): Promise<void> => {
    if (workspace.config.notify.length === 0) return
    const outbox = openOutbox(workspace, outside)
    if (outbox === null) return
    try {
      await work(outbox)
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      logger.warn(`notifications can't be kept: ${error.message}`, { code: error.code })
    }
  }
  return {
    aboutRun: async (workspace, ports, execute) => {
      let token: string | null = null
      const onSending = () =>
        withOutbox(workspace, async (outbox) => void (token = await outbox.begin('serve')))
      try {
        const executed = await execute({ ...ports, outside: { ...ports.outside, onSending } })
        const content = describe(executed)
        // The same apply is repeated until it sends something.
        const isRepeated = content?.events.every((event) => event === 'failed') === true
        await withOutbox(workspace, async (outbox) => {
          await outbox.finish(token, content === null || isRepeated ? [] : [content])
          if (content !== null && isRepeated)
            await outbox.reportOnce(failedCommit, workspace.commit, content)
        })
        return executed
      } catch (error) {
        const begun: string | null = token
        if (begun !== null) await withOutbox(workspace, (outbox) => outbox.abandon(begun))
        throw error
      }
    },
    aboutDrift: async (workspace, { drift }) => {
      // After a start, the drift of before may be in domains that later checks read.
      if (readsBack(workspace) && (drift.unread ?? 0) > 0 && !hasDrift(drift)) return
      // The same text as that of the command without a selection: both share what was reported.
      const isObserved = workspace.config.serve.drift.observed !== null || readsBack(workspace)
      const scope = JSON.stringify([[], [], isObserved])
      await withOutbox(workspace, (outbox) => outbox.reportDrift(drift, scope))
    },
    aboutFailure: async (workspace, failure) => {
      const content = describeFailure(failure)
      if (content === null) return
      const { kind, id } = failure
      const topic = kind === 'commit' ? failedCommit : `failed rollout ${id}`
      await withOutbox(workspace, (outbox) => outbox.reportOnce(topic, id, content))
    },
    deliver: (workspace) =>
      withOutbox(workspace, async (outbox) => {
        const { postponed, givenUp, dropped, failures } = await outbox.deliverDue()
        const lost = postponed + givenUp + dropped
        if (lost > 0)
          logger.warn(`${pluralize(lost, 'notification')} not sent`, {
            postponed,
            givenUp,
            dropped,
            failures,
          })
        metrics.setOutbox(await outbox.count())
      }),
  }
}

/** Topic of the commit that was last reported as not applied. */
const failedCommit = 'failed commit'

function describeFailure({ kind, id, error }: Failure): Content | null {
  if (kind === 'commit' && isAboutCommit(error)) return describeInvalid(id)
  const what =
    kind === 'commit' ? `Commit ${id.slice(0, 12)} is not applied` : `Rollout ${id} waits`
  return describeNotApplied(what, findFailureCode(error))
}

function describe(executed: Executed): ReturnType<typeof describeApply> {
  const { finished, inWaves, doubts, result } = executed
  if (finished === undefined) return null
  const { refusals } = result
  return describeApply({ finished, status: findStatus(executed), inWaves, refusals, doubts })
}
