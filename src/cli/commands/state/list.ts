import { formatTime } from '../../../core/model/text/words.ts'
import type { Declare } from '../declare.ts'

/** `edgewise state list`: lists the domains in state. */
export function declareList(declare: Declare): void {
  declare('list', {
    description: 'list the domains in state, sorted by name',
    examples: ['state list', 'state list --json'],
    run: async (context) => {
      const { listState } = await import('../../../operations/state.ts')
      const { openWorkspace } = await import('../../open.ts')
      const { io, paint } = context
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
      const width = domains.reduce((widest, { domain }) => Math.max(widest, domain.length), 0)
      const lines = domains.map(({ domain, items, inDoubt, confirmedAt }) => {
        const doubt = inDoubt === 0 ? '' : paint.yellow(`  ${inDoubt} in-doubt`)
        const count = `${String(items).padStart(3)} ${items === 1 ? 'item ' : 'items'}`
        const confirmed = confirmedAt === null ? 'never confirmed' : formatTime(confirmedAt)
        return `${domain.padEnd(width)}  ${count}  ${confirmed}${doubt}\n`
      })
      context.print(
        () => ({ format: 'edgewise.state/1', domains }),
        () => (lines.length === 0 ? `State is empty (${location}).\n` : lines.join('')),
      )
    },
  })
}
