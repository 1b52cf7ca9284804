import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/**
 * `edgewise completion-domains`: lists the domains of the manifests that begin with a text, for the
 * completion scripts. Prints nothing on errors, which would be in the middle of a command line.
 */
export function declareCompletionDomains(program: Command, declare: Declare): void {
  declare(program, 'completion-domains [prefix]', {
    description: 'list the domains of the manifests',
    examples: ['completion-domains www'],
    hidden: true,
    run: async (context, [prefix = '']) => {
      const { listDomains } = await import('../completion/list-domains.ts')
      const domains = listDomains(context, String(prefix))
      if (domains.length > 0) context.io.out(`${domains.join('\n')}\n`)
      return exitCodes.done
    },
  })
}
