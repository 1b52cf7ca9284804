import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise state unlock`: shows the lock holder and, after consent, removes the lock. */
export function declareUnlock(state: Command, declare: Declare): void {
  declare<{ force?: boolean }>(state, 'unlock [domain]', {
    description: 'remove a stale lock',
    args: ['a domain of the lock, if there are several locks'],
    examples: ['state unlock', 'state unlock --yes', 'state unlock www.example.com'],
    run: async (context, [domain], { force }) => {
      const { unlock } = await import('../../operations/unlock.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const ended = await unlock(
        openWorkspace(context, 'none'),
        { force, ...(domain === undefined ? {} : { domain: String(domain) }) },
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
