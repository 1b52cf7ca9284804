import type { Command } from 'commander'
import type { PastDomain } from '../../operations/domain-history.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'

/**
 * `edgewise state history`: lists all applies and their outcomes, or what each of them intended for
 * a domain; latest first.
 */
export function declareHistory(state: Command, declare: Declare): void {
  declare(state, 'history [domain]', {
    description: 'list all applies, or what they changed of a domain',
    args: ['list what each apply intended for this domain, and the outcome'],
    examples: [
      'state history',
      'state history --json',
      'state history www.example.com',
      'state history www.example.com -v',
    ],
    run: async (context, [domain]) => {
      await (domain === undefined ? printApplies(context) : printDomain(context, String(domain)))
      return exitCodes.done
    },
  }).addHelpText(
    'after',
    `
The outcome of an item is what state says after the apply: an intent alone
confirms nothing. Imports and "state forget" are not applies. Pruned applies
have no items any more. -v shows long values whole.`,
  )
}

async function printApplies(context: CommandContext): Promise<void> {
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
}

async function printDomain(context: CommandContext, name: string): Promise<void> {
  const { explainPruned, loadDomainHistory } = await import('../../operations/domain-history.ts')
  const { openWorkspace } = await import('../open.ts')
  const { io, options, paint, note } = context
  const past = await loadDomainHistory(openWorkspace(context, 'none'), name, io)
  if (options.json === true) return io.out(`${JSON.stringify(buildJson(past))}\n`)
  const { formatDomainHistory } = await import('../../report/apply/domain-history-text.ts')
  const style = { paint, columns: io.columns, verbose: options.verbose === true }
  io.out(formatDomainHistory(past.domain, past.applies.toReversed(), style))
  if (past.pruned > 0) note(explainPruned(past.pruned))
}

function buildJson({ domain, applies, pruned }: PastDomain) {
  return {
    format: 'edgewise.history/1',
    domain,
    applies: applies
      .toReversed()
      .map(({ items, ...apply }) => ({ ...apply, items: Object.fromEntries(items) })),
    ...(pruned === 0 ? {} : { pruned }),
  }
}
