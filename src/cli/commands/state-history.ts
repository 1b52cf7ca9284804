import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise state history`: the applies, the latest first, and what came of them. */
export function declareHistory(state: Command, declare: Declare): void {
  declare(state, 'history', {
    description: 'the applies, and what came of them',
    examples: ['state history', 'state history --json'],
    run: async (context) => {
      const { loadHistory } = await import('../../operations/state.ts')
      const { formatHistory } = await import('../../report/apply/history-text.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, options, paint } = context
      const applies = (await loadHistory(openWorkspace(context, 'none'), io)).toReversed()
      io.out(
        options.json === true
          ? `${JSON.stringify({ format: 'edgewise.history/1', applies })}\n`
          : formatHistory(applies, paint),
      )
      return exitCodes.done
    },
  })
}
