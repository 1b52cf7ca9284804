import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise state unlock`: shows who holds the lock and, after a question, ends that. */
export function declareUnlock(state: Command, declare: Declare): void {
  declare(state, 'unlock', {
    description: 'end the lock of an apply that is gone',
    examples: ['state unlock', 'state unlock --yes'],
    run: async (context) => {
      const { unlock } = await import('../../operations/unlock.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const ended = await unlock(openWorkspace(context, 'none'), {
        outside: io,
        dialogue: createTerminalDialogue(context),
      })
      const sentences = {
        'not-locked': 'Nobody holds the lock.',
        unlocked: 'The lock is free.',
        released: 'That holding has ended by itself meanwhile.',
      }
      io.out(`${sentences[ended]}\n`)
      return exitCodes.done
    },
  })
}
