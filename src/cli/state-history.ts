import type { Settings, Desired, Secrets } from '../operations/runtime/workspace-parts.ts'
import {
  explainPruned,
  loadDomainHistory,
  loadPastApplies,
  toFleet,
} from '../operations/history/past-applies.ts'
import { loadHistory } from '../operations/state.ts'
import type { ChainFinding, VerifiedChain } from '../state/format/verify-chain.ts'
import { formatTime, pluralize } from '../core/model/text/words.ts'
import { wrapForStdout } from './terminal/output.ts'
import { buildHistoryJson } from '../outlets/report/apply/history-json.ts'
import {
  formatDomainHistory,
  formatFindings,
  formatHistory,
} from '../outlets/report/apply/history-text.ts'
import { exitCodes } from './exit-codes.ts'
import type { ReportOptions } from './commands/options.ts'
import type { CommandContext } from './io.ts'
import { openWorkspace } from './open.ts'
import { formatJson } from '../core/model/text/format-json.ts'
import type { History } from './report-formats/subjects.ts'
import { createReports } from './reports.ts'

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
  const { applies, dropped, domain, findings } = history
  for (const file of createReports('history', given, workspace, io)) await file.save(history)
  if (options.json !== true) printFindings(context, findings)
  if (options.json === true) io.out(formatJson(buildHistoryJson(history)))
  else if (domain === null) io.out(formatHistory(applies.toReversed(), paint, dropped))
  else {
    const style = { paint, columns: io.columns, verbose: options.verbose === true }
    io.out(formatDomainHistory(domain.domain, domain.applies.toReversed(), style))
    if (domain.pruned > 0) note(explainPruned(domain.pruned))
  }
  return findings.length === 0 ? exitCodes.done : exitCodes.failed
}

function printFindings({ io, paint }: CommandContext, findings: ChainFinding[]): void {
  for (const line of formatFindings(findings, paint))
    io.out(`${wrapForStdout(line.trimEnd(), io)}\n`)
}

async function loadAll(
  workspace: Settings & Desired & Secrets,
  { io }: CommandContext,
  withChanges: boolean,
): Promise<History> {
  if (!withChanges) return { ...(await loadHistory(workspace, io)), domain: null, fleet: null }
  const fleet = await loadPastApplies(workspace, io)
  const applies = fleet.applies.map(({ apply }) => apply)
  return { applies, dropped: fleet.dropped, findings: fleet.findings, domain: null, fleet }
}

async function loadOne(
  workspace: Settings,
  { io }: CommandContext,
  name: string,
): Promise<History> {
  const domain = await loadDomainHistory(workspace, name, io)
  const { applies, findings } = domain
  return { applies, dropped: 0, findings, domain, fleet: toFleet(domain) }
}

/**
 * Prints whether the chained history is whole, and what that proves.
 *
 * @param head known hash of an entry
 * @returns the exit code
 */
export async function printVerified(
  context: CommandContext,
  head: string | undefined,
): Promise<number> {
  const { verifyHistory } = await import('../operations/history/verify-history.ts')
  const { io, options } = context
  const verified = await verifyHistory(openWorkspace(context, 'none'), { head }, io)
  const { findings, hasHead, ...facts } = verified
  const code = findings.length === 0 ? exitCodes.done : exitCodes.failed
  if (options.json === true) {
    const known = hasHead === null ? {} : { hasHead }
    io.out(formatJson({ format: 'edgewise.verify/1', findings, ...facts, ...known }))
    return code
  }
  printFindings(context, findings)
  for (const sentence of describeVerified(verified)) io.out(`${wrapForStdout(sentence, io)}\n`)
  return code
}

/** Describes in sentences what is proved, and what is not. */
function describeVerified(verified: VerifiedChain): string[] {
  const { findings, entries, since, newest, signed, hasHead, pending } = verified
  const count = pluralize(entries, 'entry', 'entries')
  const start = since === null ? count : `${count} since ${formatTime(since)}`
  const rest = 'its newest entries may have been cut off'
  const limits = signed === null ? `nothing: ${rest}, or all of it written anew` : `no end: ${rest}`
  return [
    findings.length === 0
      ? `The history has ${start}, each with the hash of the one before.`
      : `The history has ${start}, and ${pluralize(findings.length, 'fault')}.`,
    ...(newest === null ? [] : [`Newest hash: ${newest}`]),
    ...(hasHead === true ? ['The known hash is that of one of them.'] : []),
    ...(signed === null ? [] : [`${pluralize(signed, 'signature is', 'signatures are')} valid.`]),
    ...(hasHead !== null || entries === 0 ? [] : [`Without --head this proves ${limits}.`]),
    ...(pending === 0
      ? []
      : [
          `${pluralize(pending, 'removed lock or refusal', 'removed locks or refusals')} ` +
            'to be recorded with the next change.',
        ]),
  ]
}
