import { pluralize } from '../model/words.ts'
import { describeApply, describeDrift, type Notification } from '../notify/notification.ts'
import { sendNotification } from '../notify/send.ts'
import { createTransport } from '../operations/connect.ts'
import type { FoundDrift } from '../operations/find-drift.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Executed } from '../operations/submit-plan.ts'
import type { CommandContext } from './io.ts'
import { findStatus } from './terminal/print-executed.ts'
import { wrapForStderr } from './terminal/wrap-output.ts'

/** Notifies receivers of what an apply has done. A failure is only reported. */
export async function notifyOfApply(
  context: CommandContext,
  workspace: LoadedWorkspace,
  executed: Executed,
): Promise<void> {
  const { finished, inWaves, doubts, result } = executed
  if (finished === undefined) return
  const { refusals } = result
  const status = findStatus(executed)
  const content = describeApply({ finished, status, inWaves, refusals, doubts })
  if (content !== null) await send(context, workspace, content)
}

/** Notifies receivers of drift. A failure is only reported. */
export async function notifyOfDrift(
  context: CommandContext,
  workspace: LoadedWorkspace,
  { drift }: FoundDrift,
): Promise<void> {
  const content = describeDrift(drift)
  if (content !== null) await send(context, workspace, content)
}

async function send(
  { io, errPaint }: CommandContext,
  { config }: LoadedWorkspace,
  content: Omit<Notification, 'id' | 'time' | 'workspace' | 'account'>,
): Promise<void> {
  const notification: Notification = {
    id: io.newId(),
    time: new Date(io.clock.now()).toISOString(),
    workspace: config.id,
    account: config.service.account,
    ...content,
  }
  const wanted = config.notify
    .map((receiver, i) => ({ receiver, number: i + 1 }))
    .filter(({ receiver }) => receiver.on.some((event) => content.events.includes(event)))
  const context = {
    clock: io.clock,
    signal: io.signal,
    createTransport: (url: string) => createTransport(url, io),
  }
  const failures = await Promise.all(
    wanted.map(async ({ receiver, number }) => {
      const failure = await sendNotification(notification, receiver, context)
      return failure === null ? [] : [`${receiver.kind} (number ${number} of "notify"): ${failure}`]
    }),
  )
  const lost = failures.flat()
  if (lost.length === 0) return
  const what = pluralize(lost.length, 'notification')
  const text = `${errPaint.yellow('warning:')} ${what} not sent: ${lost.join('; ')}`
  io.err(`${wrapForStderr(text, io)}\n`)
}
