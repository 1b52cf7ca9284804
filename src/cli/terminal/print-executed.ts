import type { ApplyResult } from '../../apply/run.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import type { Executed } from '../../operations/submit-plan.ts'
import { formatDoubts, formatFinished, formatUnrecorded } from '../../report/apply/text.ts'
import { findStatus } from '../../operations/finished-status.ts'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { wrapForStderr, wrapForStdout } from './wrap-output.ts'

/**
 * Prints the outcome of a plan, and returns the exit code.
 *
 * @param command command that sends the rest after an interrupt
 */
export function printExecuted(
  context: CommandContext,
  workspace: LoadedWorkspace,
  executed: Executed,
  command = 'edgewise apply',
): number {
  const { io, options, paint, errPaint } = context
  const { plan, result, finished, inWaves, status, doubts } = executed
  printRefusals(context, workspace, result)
  for (const line of formatDoubts(doubts))
    io.err(`${wrapForStderr(`${errPaint.yellow('in-doubt:')} ${line}`, io)}\n`)
  if (result.unrecorded !== null) {
    const message = formatUnrecorded(result.unrecorded, result.unshared)
    io.err(`${wrapForStderr(`${errPaint.red('error:')} ${message}`, io)}\n`)
  }
  const isSaid = plan.changes.length > 0 || inWaves || finished?.unchanged !== undefined
  if (options.json !== true && finished !== undefined && isSaid)
    io.out(`${wrapForStdout(formatFinished(finished, findStatus(executed), paint, command), io)}\n`)
  return {
    done: exitCodes.done,
    waiting: exitCodes.done,
    'not-begun': exitCodes.failed,
    incomplete: exitCodes.incomplete,
  }[status]
}

/** Prints refused writes with the lines of the manifests. */
function printRefusals(
  { io, errPaint }: CommandContext,
  workspace: LoadedWorkspace,
  { refusals }: ApplyResult,
): void {
  for (const { domains, items, message } of refusals) {
    io.err(`${wrapForStderr(`${errPaint.red('refused:')} ${escapeInvisible(message)}`, io)}\n`)
    const places = domains.flatMap((domain) =>
      items.map((item) => {
        const place = workspace.findItemPlace(domain, item)
        const position =
          place === null ? '' : `${escapeInvisible(place.file)}:${place.line}:${place.column} `
        return `  ${position}${item} of ${domain}`
      }),
    )
    for (const place of places.slice(0, 12)) io.err(`${place}\n`)
    if (places.length > 12) io.err(`  … and ${places.length - 12} more\n`)
  }
}
