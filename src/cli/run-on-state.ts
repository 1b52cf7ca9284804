import type { Comparable } from '../operations/runtime/parts.ts'
import type { Ports } from '../operations/runtime/ports.ts'
import type { CommandContext } from './io.ts'
import type { Notifier } from './notify.ts'

/**
 * Runs an operation on recorded state, for which manifests may be invalid, prints its result, and
 * notifies the receivers.
 *
 * @param operate may ask for consent
 * @param print formats the result; the text has no line end
 */
export async function runOnState<T>(
  context: CommandContext,
  operate: (workspace: Comparable, ports: Ports) => Promise<T>,
  print: {
    /** Absent: the text, also with `--json`. */
    json?(result: T): object
    text(result: T): string
    notify?(notifier: Notifier, result: T): Promise<void>
  },
): Promise<void> {
  const { createTerminalDialogue } = await import('./terminal/dialogue.ts')
  const { openWorkspace } = await import('./open.ts')
  const { io } = context
  const ports = { outside: io, dialogue: createTerminalDialogue(context) }
  const workspace = openWorkspace(context, 'none')
  const result = await operate(workspace, ports)
  const { json, text, notify } = print
  const format = () => `${text(result)}\n`
  if (json === undefined) io.out(format())
  else context.print(() => json(result), format)
  if (notify === undefined) return
  const { createNotifier } = await import('./notify.ts')
  await notify(createNotifier(context, workspace, io), result)
}
