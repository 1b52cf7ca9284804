import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, parseWorkspaceId, type LockOptions } from './options.ts'

interface MoveOptions extends LockOptions {
  to: string
}

/**
 * `edgewise state move`: hands domains over to another workspace of the same store. Sends nothing
 * to the service.
 */
export function declareMove(state: Command, declare: Declare): void {
  const command = declare<MoveOptions>(state, 'move <domains...>', {
    description: 'hand domains over to another workspace of the store',
    args: ['the domains'],
    examples: ['state move www.example.com --to production'],
    run: async (context, [domains], options) => {
      const { move } = await import('../../operations/move.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const { to } = options
      const request = { domains: domains as string[], to, ...buildLockRequest(options) }
      const moved = await move(openWorkspace(context, 'none'), request, {
        outside: io,
        dialogue: createTerminalDialogue(context),
      })
      const { what, ...counts } = moved
      const output = { format: 'edgewise.move/1', ...counts, to }
      io.out(
        context.options.json === true
          ? `${JSON.stringify(output)}\n`
          : `Moved ${what} to the workspace "${to}".\n`,
      )
      return exitCodes.done
    },
  }).requiredOption('--to <id>', 'id of the other workspace', parseWorkspaceId)
  addLockOptions(command)
  command.addHelpText(
    'after',
    `
A domain at one service belongs to one workspace of a store. Run this command in
the workspace that has it; then move its manifest. The history stays here.`,
  )
}
