import type { Command } from 'commander'
import type { Declare } from '../declare.ts'

/** `edgewise state verify`: verifies the chained history. */
export function declareVerify(state: Command, declare: Declare): void {
  declare<{ head?: string }>(state, 'verify', {
    description: 'verify that nobody has changed the history',
    examples: ['state verify', 'state verify --head "$HASH"', 'state verify --json'],
    run: async (context, _args, { head }) => {
      const { printVerified } = await import('../../state-history.ts')
      return printVerified(context, head)
    },
  })
    .option('--head <hash>', 'hash of an entry that the history must still have')
    .addHelpText(
      'after',
      `
Each entry has the hash of the one before, and of the apply that it is about.
That the newest entries were cut off shows only with --head: pass the newest
hash that an apply, its report or a notification has shown. Exit 1 if anything
is wrong.`,
    )
}
