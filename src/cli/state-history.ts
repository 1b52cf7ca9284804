import { formatJson } from '../core/model/json.ts'
import { explainPruned, loadHistory } from '../operations/history/past-applies.ts'
import type { VerifiedChain } from '../state/format/verify-chain.ts'
import type { ChainFinding } from '../state/format/verify-records.ts'
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
  const { io, options, paint, layout, note } = context
  const workspace = openWorkspace(context, 'none')
  const history = await loadHistory(workspace, io, name, withChanges)
  const { applies, acts, dropped, domain, findings } = history
  for (const file of createReports('history', given, workspace, io)) await file.save(history)
  if (options.json !== true) printFindings(context, findings)
  if (options.json === true) io.out(formatJson(buildHistoryJson(history)))
  else if (domain === null) io.out(formatHistory(applies.toReversed(), paint, dropped, acts))
  else {
    io.out(formatDomainHistory(domain.domain, domain.applies.toReversed(), layout))
    if (domain.pruned > 0) note(explainPruned(domain.pruned))
  }
  return findings.length === 0 ? exitCodes.done : exitCodes.failed
}

function printFindings({ io, paint }: CommandContext, findings: ChainFinding[]): void {
  for (const line of formatFindings(findings, paint))
    io.out(`${wrapForStdout(line.trimEnd(), io)}\n`)
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
  const { findings, hasHead, acts: _acts, ...facts } = verified
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
