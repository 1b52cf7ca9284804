import type { Command } from 'commander'
import { formatTime } from '../../model/format-time.ts'
import { pluralize } from '../../model/words.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, parseDays, type LockOptions } from './options.ts'

interface PruneOptions extends LockOptions {
  /** Ms. */
  keep?: number
}

/** `edgewise state prune`: removes the state before old applies. */
export function declarePrune(state: Command, declare: Declare): void {
  const command = declare<PruneOptions>(state, 'prune', {
    description: 'remove the data for rolling back old applies',
    examples: ['state prune --keep 90d', 'state prune --keep 30d --yes'],
    run: async (context, _args, options) => {
      const { prune } = await import('../../operations/prune.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const { applies, before, kept } = await prune(
        openWorkspace(context, 'none'),
        { keepMs: options.keep ?? parseDays('90d'), ...buildLockRequest(options) },
        { outside: io, dialogue: createTerminalDialogue(context) },
      )
      const ids = applies.map(({ id }) => id)
      const count = pluralize(applies.length, 'apply', 'applies')
      io.out(
        context.options.json === true
          ? `${JSON.stringify({ format: 'edgewise.prune/1', before, applies: ids, kept })}\n`
          : `Pruned ${count} that ended before ${formatTime(before)}; ` +
              `${kept} can be rolled back.\n`,
      )
      return exitCodes.done
    },
  }).option('--keep <days>', 'maximum age of the applies to keep (default: 90d)', parseDays)
  addLockOptions(command)
  command.addHelpText(
    'after',
    `
Pruned applies stay in "state history", up to 1000 of them, but can't be rolled
back. Unfinished applies, those of open rollouts, the last one that can be
rolled back, and all later ones are kept. Every apply prunes up to 50 applies
that ended more than 90 days ago.`,
  )
}
