import type { Settings, ItemPlaces, Outside } from '../operations/runtime/parts.ts'
import type { LoadedWorkspace } from '../operations/runtime/load-workspace.ts'
import { type Executed, findStatus } from '../operations/submission/executed.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace, refuseInvalidManifests } from './open.ts'
import type { ApplyResult } from '../engine/apply/run.ts'
import { formatDoubts, formatFinished, formatUnrecorded } from '../outlets/report/apply/text.ts'
import { escapeInvisible } from '../outlets/report/text/escape-invisible.ts'
import { exitCodes } from './exit-codes.ts'
import { printMarked, wrapForStdout } from './terminal/output.ts'

/**
 * Executes a plan, prints its outcome, and notifies the receivers of the workspace.
 *
 * @param execute executes it with an outside that records when it begins to send
 * @param nameCommand names the command that sends the rest after an interrupt
 * @returns what was executed, and the exit code
 */
export async function executeAndFinish<T extends Executed>(
  context: CommandContext,
  workspace: Settings & ItemPlaces,
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

/**
 * Prints the outcome of a plan, and returns the exit code.
 *
 * @param command command that sends the rest after an interrupt
 */
function printExecuted(
  context: CommandContext,
  workspace: ItemPlaces,
  executed: Executed,
  command = 'edgewise apply',
): number {
  const { io, options, paint } = context
  const { plan, result, finished, inWaves, status, doubts } = executed
  printRefusals(context, workspace, result)
  for (const line of formatDoubts(doubts)) printMarked(context, 'in-doubt', line)
  if (result.unrecorded !== null)
    printMarked(context, 'error', formatUnrecorded(result.unrecorded, result.unshared))
  const isSaid = plan.changes.length > 0 || inWaves || finished?.unchanged !== undefined
  if (options.json !== true && finished !== undefined && isSaid)
    io.out(`${wrapForStdout(formatFinished(finished, findStatus(executed), paint, command), io)}\n`)
  if (options.json !== true && options.verbose === true && finished?.history !== undefined)
    io.out(`History: ${finished.history}\n`)
  return {
    done: exitCodes.done,
    waiting: exitCodes.done,
    'not-begun': exitCodes.failed,
    incomplete: exitCodes.incomplete,
  }[status]
}

/** Prints refused writes with the lines of the manifests. */
function printRefusals(
  context: CommandContext,
  workspace: ItemPlaces,
  { refusals }: ApplyResult,
): void {
  for (const { domains, items, message } of refusals) {
    printMarked(context, 'refused', escapeInvisible(message))
    const places = domains.flatMap((domain) =>
      items.map((item) => {
        const place = workspace.findItemPlace(domain, item)
        const position =
          place === null ? '' : `${escapeInvisible(place.file)}:${place.line}:${place.column} `
        return `  ${position}${item} of ${domain}`
      }),
    )
    for (const place of places.slice(0, 12)) context.io.err(`${place}\n`)
    if (places.length > 12) context.io.err(`  … and ${places.length - 12} more\n`)
  }
}
