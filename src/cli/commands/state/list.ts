import { formatJson } from '../../../core/model/json.ts'
import type { Command } from 'commander'
import { formatTime } from '../../../core/model/text/words.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Declare } from '../declare.ts'

/** `edgewise state list`: lists the domains in state. */
export function declareList(state: Command, declare: Declare): void {
  declare(state, 'list', {
    description: 'list the domains in state, sorted by name',
    examples: ['state list', 'state list --json'],
    run: async (context) => {
      const { listState } = await import('../../../operations/state.ts')
      const { openWorkspace } = await import('../../open.ts')
      const { io, options, paint } = context
      const workspace = openWorkspace(context, 'none')
      const { recorded, location, notes } = await listState(workspace, io)
      for (const sentence of notes) context.note(sentence)
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
        io.out(formatJson({ format: 'edgewise.state/1', domains }))
        return exitCodes.done
      }
      if (domains.length === 0) io.out(`State is empty (${location}).\n`)
      const width = domains.reduce((widest, { domain }) => Math.max(widest, domain.length), 0)
      for (const { domain, items, inDoubt, confirmedAt } of domains) {
        const doubt = inDoubt === 0 ? '' : paint.yellow(`  ${inDoubt} in-doubt`)
        const count = `${String(items).padStart(3)} ${items === 1 ? 'item ' : 'items'}`
        const confirmed = confirmedAt === null ? 'never confirmed' : formatTime(confirmedAt)
        io.out(`${domain.padEnd(width)}  ${count}  ${confirmed}${doubt}\n`)
      }
      return exitCodes.done
    },
  })
}
