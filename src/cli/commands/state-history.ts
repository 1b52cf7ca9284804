import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise state history`: lists all applies and their outcomes, latest first. */
export function declareHistory(state: Command, declare: Declare): void {
  declare(state, 'history', {
    description: 'list all applies and their outcomes',
    examples: ['state history', 'state history --json'],
    run: async (context) => {
      const { loadHistory } = await import('../../operations/state.ts')
      const { formatHistory } = await import('../../report/apply/history-text.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, options, paint } = context
      const { applies: history, dropped } = await loadHistory(openWorkspace(context, 'none'), io)
      const applies = history.toReversed()
      const earlier = dropped === 0 ? {} : { dropped }
      io.out(
        options.json === true
          ? `${JSON.stringify({ format: 'edgewise.history/1', applies, ...earlier })}\n`
          : formatHistory(applies, paint, dropped),
      )
      return exitCodes.done
    },
  })
}
