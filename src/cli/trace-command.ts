import { openTracer, type OpenTracer } from '../tracing/open-tracer.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { wrapForStderr } from './terminal/wrap-output.ts'
import { version } from './version.ts'

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
  const tracer = await openTracer({ env: io.env, version, warn })
  if (tracer === null) return run(context)
  try {
    return await tracer.run(`edgewise ${name}`, async (span) => {
      const code = await run({ ...context, io: { ...io, tracer } })
      span.set({ 'edgewise.exit_code': code })
      if (io.signal.aborted) span.fail('interrupted')
      if (code !== exitCodes.done && code !== exitCodes.differences) span.fail(`exit-${code}`)
      return code
    })
  } finally {
    await closeTracer(context, tracer)
  }
}

/** Creates what warns of traces that can't be exported: they are beside the point of a command. */
function createWarn({ io, errPaint, phases }: CommandContext): (text: string) => void {
  return (text) => {
    phases.end()
    io.err(`${wrapForStderr(`${errPaint.yellow('warning:')} ${text}`, io)}\n`)
  }
}

/** Exports what is left, and warns if spans are lost. The process may end then in any case. */
async function closeTracer(context: CommandContext, tracer: OpenTracer): Promise<void> {
  const { problem, isStuck } = await tracer.close()
  if (problem !== null) createWarn(context)(problem)
  if (isStuck) context.io.endSoon?.()
}
