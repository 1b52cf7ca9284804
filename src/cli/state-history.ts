import type { Settings, Desired, Secrets } from '../operations/runtime/workspace-parts.ts'
import {
  explainPruned,
  loadDomainHistory,
  loadPastApplies,
  toFleet,
} from '../operations/history/past-applies.ts'
import { loadHistory } from '../operations/state.ts'
import { buildHistoryJson } from '../outlets/report/apply/history-json.ts'
import { formatHistory, formatDomainHistory } from '../outlets/report/apply/history-text.ts'
import { exitCodes } from './exit-codes.ts'
import type { ReportOptions } from './commands/options.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace } from './open.ts'
import { createReports, formatJson, type History } from './reports.ts'

/**
 * Prints all applies, or what each apply intended for a domain, the latest first.
 *
 * @param withChanges whether a report has what all applies did
 */
export async function printHistory(
  context: CommandContext,
  name: string | null,
  given: ReportOptions,
  withChanges: boolean,
): Promise<number> {
  const { io, options, paint, note } = context
  const workspace = openWorkspace(context, 'none')
  const history =
    name === null
      ? await loadAll(workspace, context, withChanges)
      : await loadOne(workspace, context, name)
  const { applies, dropped, domain } = history
  for (const file of createReports('history', given, workspace, io)) await file.save(history)
  if (options.json === true) io.out(formatJson(buildHistoryJson(history)))
  else if (domain === null) io.out(formatHistory(applies.toReversed(), paint, dropped))
  else {
    const style = { paint, columns: io.columns, verbose: options.verbose === true }
    io.out(formatDomainHistory(domain.domain, domain.applies.toReversed(), style))
    if (domain.pruned > 0) note(explainPruned(domain.pruned))
  }
  return exitCodes.done
}

async function loadAll(
  workspace: Settings & Desired & Secrets,
  { io }: CommandContext,
  withChanges: boolean,
): Promise<History> {
  if (!withChanges) return { ...(await loadHistory(workspace, io)), domain: null, fleet: null }
  const fleet = await loadPastApplies(workspace, io)
  const applies = fleet.applies.map(({ apply }) => apply)
  return { applies, dropped: fleet.dropped, domain: null, fleet }
}

async function loadOne(
  workspace: Settings,
  { io }: CommandContext,
  name: string,
): Promise<History> {
  const domain = await loadDomainHistory(workspace, name, io)
  return { applies: domain.applies, dropped: 0, domain, fleet: toFleet(domain) }
}
