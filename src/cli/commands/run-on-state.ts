import { formatJson } from '../../core/model/json.ts'
import type { Comparable } from '../../operations/runtime/parts.ts'
import type { Ports } from '../../operations/runtime/ports.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'

/**
 * Runs an operation on recorded state, for which manifests may be invalid, and prints its result.
 *
 * @param operate may ask for consent
 * @param print formats the result; the text has no line end
 */
export async function runOnState<T>(
  context: CommandContext,
  operate: (workspace: Comparable, ports: Ports) => Promise<T>,
  print: { json(result: T): object; text(result: T): string },
): Promise<number> {
  const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
  const { openWorkspace } = await import('../open.ts')
  const { io, options } = context
  const ports = { outside: io, dialogue: createTerminalDialogue(context) }
  const result = await operate(openWorkspace(context, 'none'), ports)
  io.out(options.json === true ? formatJson(print.json(result)) : `${print.text(result)}\n`)
  return exitCodes.done
}
