import { explainPruned, loadDomainHistory, type PastDomain } from '../operations/domain-history.ts'
import { loadHistory } from '../operations/state.ts'
import { formatDomainHistory } from '../report/apply/domain-history-text.ts'
import { formatHistory } from '../report/apply/history-text.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace } from './open.ts'

/** Prints all applies, the latest first. */
export async function printApplies(context: CommandContext): Promise<void> {
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

/** Prints what each apply intended for a domain, the latest first. */
export async function printDomain(context: CommandContext, name: string): Promise<void> {
  const { io, options, paint, note } = context
  const past = await loadDomainHistory(openWorkspace(context, 'none'), name, io)
  if (options.json === true) return io.out(`${JSON.stringify(buildJson(past))}\n`)
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
