import type { Declare } from '../declare.ts'
import { addReportOption, hasPage, type ReportOptions } from '../options.ts'

/**
 * `edgewise state history`: lists all applies and their outcomes, or what each of them intended for
 * a domain; latest first.
 */
export function declareHistory(declare: Declare): void {
  const command = declare<ReportOptions>('history [domain]', {
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

/** `edgewise state verify`: verifies the chained history. */
export function declareVerify(declare: Declare): void {
  declare<{ head?: string }>('verify', {
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
