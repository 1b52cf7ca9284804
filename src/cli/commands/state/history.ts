import type { Command } from 'commander'
import type { Declare } from '../declare.ts'
import { addReportOption, hasPage, type ReportOptions } from '../options.ts'

/**
 * `edgewise state history`: lists all applies and their outcomes, or what each of them intended for
 * a domain; latest first.
 */
export function declareHistory(state: Command, declare: Declare): void {
  const command = declare<ReportOptions>(state, 'history [domain]', {
    description: 'list all applies, or what they changed of a domain',
    args: ['list what each apply intended for this domain, and the outcome'],
    examples: [
      'state history',
      'state history --json',
      'state history www.example.com',
      'state history www.example.com -v',
      'state history --report history.html',
    ],
    run: async (context, [domain], options) => {
      const { printHistory } = await import('../../state-history.ts')
      const name = domain === undefined ? null : String(domain)
      return printHistory(context, name, options, hasPage(options))
    },
  })
  addReportOption(command, 'history').addHelpText(
    'after',
    `
The outcome of an item is the one in state after the apply: an intent alone
confirms nothing. Imports and "state forget" are not applies. Pruned applies
have no items any more. -v shows long values whole.`,
  )
}
