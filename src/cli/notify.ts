import { findNewestHash } from '../operations/history/verify-history.ts'
import type { Settings, Outside } from '../operations/runtime/parts.ts'
import { pluralize } from '../core/model/text/words.ts'
import type { Decided, StopDecision } from '../core/model/listed-rollout.ts'
import { throwDefect } from '../core/model/edgewise-error.ts'
import {
  describeApply,
  describeDecision,
  describeDrift,
  describeFailed,
  describeStopDecision,
  describeUnlock,
  describeWait,
  findFailureCode,
  type Content,
} from '../outlets/notify/notification.ts'
import { completeContent, openOutbox, type Outbox } from '../outlets/notify/outbox.ts'
import { sendNotification } from '../outlets/notify/send.ts'
import { createTransport } from '../operations/runtime/connect.ts'
import type { FoundDrift } from '../operations/observation/find-drift.ts'
import type { Unlocked } from '../operations/unlock.ts'
import { formatLockHolder } from '../state/format/lock-file.ts'
import type { Executed } from '../operations/submission/executed.ts'
import { findAuthor } from '../operations/submission/find-author.ts'
import type { CommandContext } from './io.ts'
import { printMarked } from './terminal/output.ts'

/** Notifications of one command. A failure is only reported. */
export interface Notifier {
  /** The outside of the command, by which it records that it begins to send. */
  outside: Outside
  notifyOfApply(executed: Executed): Promise<void>
  /** @param scope what was compared */
  notifyOfDrift(found: FoundDrift, scope: string): Promise<void>
  notifyOfStop(decided: StopDecision): Promise<void>
  notifyOfDecision(decided: Decided): Promise<void>
  notifyOfUnlock(done: Unlocked, reason: string): Promise<void>
  /** Ends a command that failed, and notifies of it. */
  notifyOfError(error: unknown): Promise<void>
}

/** Creates the notifications of a command; with state in a database they are kept until sent. */
export function createNotifier(
  context: CommandContext,
  workspace: Settings,
  outside: Outside,
): Notifier {
  const outbox = openOutbox(workspace, outside)
  let token: string | null = null
  const tryToStore = async (work: (outbox: Outbox) => Promise<void>): Promise<boolean> => {
    if (outbox === null) return false
    try {
      await work(outbox)
      return true
    } catch (error) {
      throwDefect(error)
      printMarked(
        context,
        'warning',
        `notifications can't be kept in the database: ${error.message}`,
      )
      return false
    }
  }
  const report = async (content: Content | null, store: (outbox: Outbox) => Promise<void>) => {
    if (await tryToStore(store)) await tryToStore((opened) => deliver(context, opened))
    else if (content !== null) await send(context, workspace, content, outside)
  }
  const reportOnce = async (content: Content | null) => {
    if (content !== null) await report(content, (opened) => opened.finish(null, [content]))
  }
  return {
    outside: {
      ...outside,
      onSending: async () => {
        await tryToStore(async (opened) => void (token = await opened.begin('apply')))
      },
    },
    notifyOfApply: async (executed) => {
      const content = describeApply(executed)
      const { rollout, waitsAnew } = executed.result
      const wait = waitsAnew === true && rollout !== undefined ? describeWait(rollout) : null
      await report(content ?? wait, (opened) => opened.finish(token, [content ?? []].flat()))
    },
    notifyOfDrift: ({ drift }, scope) =>
      report(describeDrift(drift), (opened) => opened.reportDrift(drift, scope)),
    notifyOfStop: (decided) => reportOnce(describeStopDecision(decided, findAuthor(outside))),
    notifyOfDecision: (decided) => reportOnce(describeDecision(decided)),
    notifyOfUnlock: async ({ ended, by, holder }, reason) => {
      if (ended === 'unlocked' && holder !== null)
        await reportOnce(describeUnlock(formatLockHolder(holder), by, reason))
    },
    notifyOfError: async (error) => {
      const begun = token
      if (begun !== null) {
        await tryToStore((opened) => opened.abandon(begun))
        return
      }
      await reportOnce(describeFailed(findFailureCode(error)))
    },
  }
}

/** Sends what is due, and reports what still waits. */
async function deliver(context: CommandContext, outbox: Outbox): Promise<void> {
  const { postponed, givenUp, dropped, failures } = await outbox.deliverDue()
  const why = failures.length === 0 ? '' : `: ${failures.join('; ')}`
  if (dropped > 0)
    context.note(
      `${pluralize(dropped, 'notification')} dropped: the receiver is not configured any more`,
    )
  if (givenUp > 0)
    printMarked(
      context,
      'warning',
      `${pluralize(givenUp, 'notification')} given up after 24 hours${why}`,
    )
  if (postponed === 0) return
  const { pending } = await outbox.count()
  const wait = pending === 1 ? 'waits' : 'wait'
  printMarked(
    context,
    'warning',
    `${pluralize(pending, 'notification')} ${wait} in the database; the next command or ` +
      `edgewise serve sends ${pending === 1 ? 'it' : 'them'}${why}`,
  )
}

async function send(
  commandContext: CommandContext,
  workspace: Settings,
  content: Content,
  outside: Outside,
): Promise<void> {
  const { io } = commandContext
  const { config } = workspace
  const stamp = { id: io.newId(), time: new Date(io.clock.now()).toISOString() }
  const notification = completeContent(config, content, stamp)
  const wanted = config.notify
    .map((receiver, i) => ({ receiver, number: i + 1 }))
    .filter(({ receiver }) => receiver.on.some((event) => content.events.includes(event)))
  const context = {
    clock: io.clock,
    signal: io.signal,
    createTransport: (url: string) => createTransport(url, io),
    findNewestHash: () => findNewestHash(workspace, outside),
  }
  const failures = await Promise.all(
    wanted.map(async ({ receiver, number }) => {
      const failure = await sendNotification(notification, receiver, context)
      return failure === null ? [] : [`${receiver.kind} (number ${number} of "notify"): ${failure}`]
    }),
  )
  const lost = failures.flat()
  if (lost.length === 0) return
  printMarked(
    commandContext,
    'warning',
    `${pluralize(lost.length, 'notification')} not sent: ${lost.join('; ')}`,
  )
}
