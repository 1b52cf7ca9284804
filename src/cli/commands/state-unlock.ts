import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise state unlock`: shows the lock holder and, after consent, removes the lock. */
export function declareUnlock(state: Command, declare: Declare): void {
  declare<{ force?: boolean }>(state, 'unlock', {
    description: 'remove a stale lock',
    examples: ['state unlock', 'state unlock --yes'],
    run: async (context, _args, { force }) => {
      const { unlock } = await import('../../operations/unlock.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const ended = await unlock(
        openWorkspace(context, 'none'),
        { force },
        { outside: io, dialogue: createTerminalDialogue(context) },
      )
      const sentences = {
        'not-locked': 'There is no lock.',
        unlocked: 'The lock was removed.',
        released: 'The lock had already been released.',
      }
      io.out(`${sentences[ended]}\n`)
      return exitCodes.done
    },
  }).option('--force', 'remove the lock although its process runs on this machine')
}
