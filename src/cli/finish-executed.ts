import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Executed } from '../operations/submit-plan.ts'
import type { CommandContext } from './io.ts'
import { printExecuted } from './terminal/print-executed.ts'

/**
 * Prints the outcome of a plan, notifies the receivers of the workspace, and returns the exit
 * code.
 *
 * @param command command that sends the rest after an interrupt
 */
export async function finishExecuted(
  context: CommandContext,
  workspace: LoadedWorkspace,
  executed: Executed,
  command?: string,
): Promise<number> {
  const code = printExecuted(context, workspace, executed, command)
  if (workspace.config.notify.length === 0) return code
  const { notifyOfApply } = await import('./notify.ts')
  await notifyOfApply(context, workspace, executed)
  return code
}
