import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/**
 * `edgewise state history`: lists all applies and their outcomes, or what each of them intended for
 * a domain; latest first.
 */
export function declareHistory(state: Command, declare: Declare): void {
  declare<{ html?: string }>(state, 'history [domain]', {
    description: 'list all applies, or what they changed of a domain',
    args: ['list what each apply intended for this domain, and the outcome'],
    examples: [
      'state history',
      'state history --json',
      'state history www.example.com',
      'state history www.example.com -v',
      'state history --html history.html',
    ],
    run: async (context, [domain], { html }) => {
      const { printApplies, printDomain } = await import('../state-history.ts')
      await (domain === undefined
        ? printApplies(context, html)
        : printDomain(context, String(domain), html))
      return exitCodes.done
    },
  })
    .option('--html <file>', 'write the history, and what each apply did, as a page for a browser')
    .addHelpText(
      'after',
      `
The outcome of an item is the one in state after the apply: an intent alone
confirms nothing. Imports and "state forget" are not applies. Pruned applies
have no items any more. -v shows long values whole.`,
    )
}
