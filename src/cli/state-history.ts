import { explainPruned, loadDomainHistory, type PastDomain } from '../operations/domain-history.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { loadPastApplies, toFleet, type PastFleet } from '../operations/past-applies.ts'
import { loadHistory, type HistoryEntry } from '../operations/state.ts'
import { formatDomainHistory } from '../report/apply/domain-history-text.ts'
import { formatHistory } from '../report/apply/history-text.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace } from './open.ts'

/** Prints all applies, the latest first. `html`: file for a page of what they did. */
export async function printApplies(context: CommandContext, html?: string): Promise<void> {
  const { io, options, paint } = context
  const workspace = openWorkspace(context, 'none')
  const { applies: history, dropped } =
    html === undefined
      ? await loadHistory(workspace, io)
      : await savePast(context, workspace, html, await loadPastApplies(workspace, io))
  const applies = history.toReversed()
  const earlier = dropped === 0 ? {} : { dropped }
  io.out(
    options.json === true
      ? `${JSON.stringify({ format: 'edgewise.history/1', applies, ...earlier })}\n`
      : formatHistory(applies, paint, dropped),
  )
}

/** Prints what each apply intended for a domain, the latest first. `html`: file for a page. */
export async function printDomain(
  context: CommandContext,
  name: string,
  html?: string,
): Promise<void> {
  const { io, options, paint, note } = context
  const workspace = openWorkspace(context, 'none')
  const past = await loadDomainHistory(workspace, name, io)
  if (html !== undefined) await savePast(context, workspace, html, toFleet(past), past)
  if (options.json === true) return io.out(`${JSON.stringify(buildJson(past))}\n`)
  const style = { paint, columns: io.columns, verbose: options.verbose === true }
  io.out(formatDomainHistory(past.domain, past.applies.toReversed(), style))
  if (past.pruned > 0) note(explainPruned(past.pruned))
}

/** Writes the page of a history, and returns its applies, first to last. */
async function savePast(
  { io }: CommandContext,
  workspace: LoadedWorkspace,
  html: string,
  { applies, dropped }: PastFleet,
  of: PastDomain | null = null,
): Promise<{ applies: HistoryEntry[]; dropped: number }> {
  const { buildHistoryPage } = await import('../report/page/build-history-page.ts')
  const { createPageAbout } = await import('../operations/page-about.ts')
  const { savePage } = await import('./page-file.ts')
  const { createOutput } = await import('./save-file.ts')
  const target = of === null ? [] : [of.domain]
  const about = createPageAbout(workspace, io, { target, items: [], commit: null }, [])
  const domain = of === null ? null : { name: of.domain, pruned: of.pruned }
  // The manifests have no part in a history.
  const page = buildHistoryPage({ applies, dropped, domain }, { ...about, warnings: [] })
  await savePage(createOutput(html, workspace, io), page)
  return { applies: applies.map(({ apply }) => apply), dropped }
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
