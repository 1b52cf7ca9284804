import type { ApplyResult } from '../../apply/run.ts'
import type { LoadedWorkspace } from '../../operations/load-workspace.ts'
import type { Executed } from '../../operations/submit-plan.ts'
import { formatFinished } from '../../report/apply/text.ts'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { wrapForStderr, wrapForStdout } from './wrap-output.ts'

/** Prints what came of a plan. Returns the exit code. */
export function printExecuted(
  context: CommandContext,
  workspace: LoadedWorkspace,
  executed: Executed,
): number {
  const { io, options, paint, errPaint } = context
  const { plan, result, finished, inWaves, status } = executed
  printRefusals(context, workspace, result)
  if (result.unrecorded !== null)
    io.err(
      `${wrapForStderr(`${errPaint.red('error:')} not everything could be recorded: ${escapeInvisible(result.unrecorded)}`, io)}\n`,
    )
  if (options.json !== true && finished !== undefined && (plan.changes.length > 0 || inWaves))
    io.out(`${wrapForStdout(formatFinished(finished, paint), io)}\n`)
  return { done: exitCodes.done, 'not-begun': exitCodes.failed, incomplete: exitCodes.incomplete }[
    status
  ]
}

/** Says at the manifests' lines what the service refused. */
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
        return `  ${place === null ? '' : `${place.file}:${place.line}:${place.column} `}${item} of ${domain}`
      }),
    )
    for (const place of places.slice(0, 12)) io.err(`${place}\n`)
    if (places.length > 12) io.err(`  … and ${places.length - 12} more\n`)
  }
}
