import { failSpan, inTrace } from '../core/model/telemetry.ts'
import { openTracer, type OpenTracer } from '../outlets/telemetry/open-tracer.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { printMarked } from './terminal/output.ts'
import { version } from './package-files.ts'

/**
 * Runs a command in a trace, and exports it. Neither changes what the command does, nor its exit
 * code.
 *
 * @param name words of the command, such as `rollout approve`
 */
export async function traceCommand(
  context: CommandContext,
  name: string,
  run: (context: CommandContext) => Promise<number>,
): Promise<number> {
  const { io } = context
  const warn = createWarn(context)
  const opened = await openTracer({ env: io.env, version, warn })
  if (opened === null) return run(context)
  try {
    return await inTrace(`edgewise ${name}`, async (span) => {
      const code = await run(context)
      span.setAttributes({ 'edgewise.exit_code': code })
      if (io.signal.aborted) failSpan(span, 'interrupted')
      if (code !== exitCodes.done && code !== exitCodes.differences) failSpan(span, `exit-${code}`)
      return code
    })
  } finally {
    await closeTracer(context, opened)
  }
}

/** Creates the function that warns of traces that can't be exported: a command goes on without. */
function createWarn(context: CommandContext): (text: string) => void {
  return (text) => {
    context.phases.end()
    printMarked(context, 'warning', text)
  }
}

/** Exports what is left, and warns if spans are lost. The process may end then in any case. */
async function closeTracer(context: CommandContext, opened: OpenTracer): Promise<void> {
  const { problem, isStuck } = await opened.close()
  if (problem !== null) createWarn(context)(problem)
  if (isStuck) context.io.endSoon?.()
}
