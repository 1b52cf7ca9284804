import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'

/** `edgewise state list`: the domains that are recorded. */
export function declareList(state: Command, declare: Declare): void {
  declare(state, 'list', {
    description: 'domains that are recorded',
    examples: ['state list', 'state list --json'],
    run: async (context) => {
      const { listState } = await import('../../operations/state.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, options, paint } = context
      const { recorded, location } = await listState(openWorkspace(context, 'none'), io)
      const domains = [...recorded].map(([domain, items]) => {
        const entries = [...items.values()]
        const inDoubt = entries.filter(({ status }) => status === 'in-doubt').length
        const confirmed = entries.filter(({ status }) => status !== 'in-doubt').map(({ at }) => at)
        return {
          domain,
          items: items.size,
          inDoubt,
          confirmedAt: confirmed.toSorted().at(-1) ?? null,
        }
      })
      if (options.json === true) {
        io.out(`${JSON.stringify({ format: 'edgewise.state/1', domains })}\n`)
        return exitCodes.done
      }
      if (domains.length === 0) io.out(`Nothing is recorded (${location}).\n`)
      const width = domains.reduce((widest, { domain }) => Math.max(widest, domain.length), 0)
      for (const { domain, items, inDoubt, confirmedAt } of domains) {
        const doubt = inDoubt === 0 ? '' : paint.yellow(`  ${inDoubt} in doubt`)
        const count = `${String(items).padStart(3)} ${items === 1 ? 'item ' : 'items'}`
        io.out(`${domain.padEnd(width)}  ${count}  ${confirmedAt ?? 'never confirmed'}${doubt}\n`)
      }
      return exitCodes.done
    },
  })
}
