import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import type { Executed } from '../operations/submit-plan.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace, refuseInvalidManifests } from './open.ts'
import { printExecuted } from './terminal/print-executed.ts'

/**
 * Executes a plan, prints its outcome, and notifies the receivers of the workspace.
 *
 * @param execute executes it with an outside that records when it begins to send
 * @param nameCommand names the command that sends the rest after an interrupt
 * @returns what was executed, and the exit code
 */
export async function executeAndFinish<T extends Executed>(
  context: CommandContext,
  workspace: LoadedWorkspace,
  outside: Outside,
  execute: (outside: Outside) => Promise<T>,
  nameCommand?: (executed: T) => string,
): Promise<{ executed: T; code: number }> {
  const finish = (executed: T) => ({
    executed,
    code: printExecuted(context, workspace, executed, nameCommand?.(executed)),
  })
  if (workspace.config.notify.length === 0) return finish(await execute(outside))
  const { createNotifier } = await import('./notify.ts')
  const notifier = createNotifier(context, workspace, outside)
  let finished: { executed: T; code: number }
  try {
    finished = finish(await execute(notifier.outside))
  } catch (error) {
    await notifier.notifyOfError(error)
    throw error
  }
  await notifier.notifyOfApply(finished.executed)
  return finished
}

/**
 * Opens the workspace of a command that writes to the service. Its receivers are notified if the
 * manifests are invalid.
 */
export async function openToWrite(context: CommandContext): Promise<LoadedWorkspace> {
  const workspace = openWorkspace(context, 'available')
  try {
    refuseInvalidManifests(context, workspace)
  } catch (error) {
    if (workspace.config.notify.length > 0) {
      const { createNotifier } = await import('./notify.ts')
      await createNotifier(context, workspace, context.io).notifyOfError(error)
    }
    throw error
  }
  return workspace
}
