import { findMax, groupBy } from '../../../core/model/lists.ts'
import type { ApplyEvent } from '../../../core/model/events.ts'
import { selectDefinite, type Plan } from '../../../core/model/plan.ts'
import { formatCount, pluralize } from '../../../core/model/text/words.ts'
import { groupPlanChanges } from '../plan/blocks.ts'
import { formatChangeParts, formatChangeTable, type Whole } from '../plan/change-parts.ts'
import { formatCompared, maxFirstDomains } from '../plan/markdown.ts'
import { formatNothing, formatPlanSummary } from '../plan/summary.ts'
import { formatWaves as formatPlannedWaves, formatWrite } from '../plan/text.ts'
import { escapeInvisible, escapeInvisibleInLines } from '../text/escape-invisible.ts'
import {
  fenceText,
  foldText,
  joinFirstLines,
  maxCharacters,
  selectFitting,
} from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'
import { collectOutcomes, type Unconfirmed, type WriteEnd } from './outcomes.ts'
import { formatRolloutEvent } from './rollout-text.ts'
import { formatHeadline, isWaiting, type FinishedEvent, type FinishedStatus } from './text.ts'

/** Facts of an apply for its report. */
export interface ApplyReport {
  /** Null if the apply ended before it had a plan. */
  plan: Plan | null
  events: ApplyEvent[]
  /** `running`: the apply has not ended; `failed`: it ended with an error. */
  status: FinishedStatus | 'running' | 'failed'
  /** Error of a failed apply, or of recording its outcomes; null if there is none. */
  problem: string | null
}

const style = { paint: plainPaint, columns: 110, verbose: false }
const whole: Whole = {
  name: 'the log of apply -v',
  sentence: 'The log of `edgewise apply -v` shows all',
}
const [maxWrites, maxWaves, maxNotSent] = [40, 40, 3]
/** Characters of the list of one outcome. */
const listRoom = 12_000

/**
 * Formats an apply as Markdown for a comment, like a plan: the result, everything that was not
 * confirmed with its domains and items, then the planned changes and writes, folded. Texts are in
 * code fences that they can't close. The text never exceeds the limit of a comment.
 */
export function formatApplyMarkdown(report: ApplyReport): string {
  const { events, status, problem } = report
  const plan = report.plan === null ? null : selectDefinite(report.plan)
  const { own, back } = splitEvents(events)
  const outcomes = collectOutcomes(status === 'running' ? [] : (plan?.writes ?? []), own)
  const ofRollback = collectOutcomes([], back)
  const finished = events.findLast((event) => event.type === 'apply.finished')
  const stopped = finished?.stopped ?? null
  const waits = isWaiting(status)
  const list = (outcome: 'refused' | 'inDoubt' | 'notSent') => {
    const format = outcome === 'notSent' ? formatNotSent : formatEntries
    return formatUnconfirmed(titles[outcome], [
      ...format(outcomes[outcome], ''),
      ...format(ofRollback[outcome], 'rollback, '),
    ])
  }
  const head = [
    `### Edgewise apply\n\n${formatResult(report, finished)}\n`,
    problem === null ? '' : fenceText(escapeInvisibleInLines(problem)),
    stopped === null ? '' : fenceText(`${waits ? '' : 'Stopped: '}${escapeInvisible(stopped)}`),
    list('refused'),
    list('inDoubt'),
    list('notSent'),
    formatWaves(events),
    finished?.history === undefined ? '' : `History: \`${finished.history}\`\n`,
  ].filter((part) => part !== '')
  if (report.plan === null || plan === null || plan.changes.length === 0) return head.join('\n')
  const planned =
    `#### Planned\n\n${formatPlanSummary(report.plan, plainPaint)}\n` +
    `${formatCompared(report.plan)}\n${formatChangeTable(plan.changes)}`
  const width = findMax(
    Array.from(outcomes.ends.values(), (end) => formatEnd(end).length),
    0,
  )
  const writes = plan.writes.slice(0, maxWrites).map((write) => {
    const end = outcomes.ends.get(write.id)
    const word = end === undefined ? '' : formatEnd(end)
    return `${word.padEnd(width)}${formatWrite(write, plan, style)}`
  })
  const waves = formatPlannedWaves(plan, maxFirstDomains)
  const rest = plan.writes.length - writes.length
  const listHint = ` (${whole.name} lists them)`
  const foot =
    writes.length === 0
      ? ''
      : `\n${foldText('Writes', [...waves, ...writes, ...formatRest(rest, listHint)].join('\n'))}`
  const text = `${[...head, planned].join('\n')}\n`
  const room = maxCharacters - text.length - foot.length
  return `${text}${formatChangeParts(groupPlanChanges(plan.changes), room, whole)}${foot}`
}

function formatEnd(end: WriteEnd): string {
  return end === 'unchanged' ? 'unchanged, not sent' : end
}

const titles = {
  refused: 'Refused',
  inDoubt: 'In-doubt: the effect is not known',
  notSent: 'Not sent',
}

/** Splits the events at the rollback by a health check, whose writes have numbers of their own. */
export function splitEvents(events: ApplyEvent[]): { own: ApplyEvent[]; back: ApplyEvent[] } {
  const at = events.findIndex(({ type }) => type === 'rollout.taking-back')
  return at === -1
    ? { own: events, back: [] }
    : { own: events.slice(0, at), back: events.slice(at) }
}

/** Formats the result of an apply in a sentence. */
export function formatResult(
  { plan, events, status }: ApplyReport,
  finished: FinishedEvent | undefined,
): string {
  if (status === 'running') return 'The apply has not ended: it still runs, or it was killed.'
  const sent = events.some(({ type }) => type === 'write.started')
  if (status === 'failed') return sent ? 'The apply ended with an error.' : 'Nothing was applied.'
  const drops = finished?.unchanged !== undefined
  if (plan?.changes.length === 0 && !sent && !drops) return formatNothing(plan)
  if (finished === undefined) return 'No changes.'
  return formatHeadline(finished, status, plainPaint)
}

function formatEntries(entries: Unconfirmed[], kind: string): string[] {
  return entries.map((each) => formatEntry(each, `${kind}write`))
}

/** Formats writes that were not sent: more than a few for one reason, or left out, are counted. */
function formatNotSent(entries: Unconfirmed[], kind: string): string[] {
  const groups = groupBy(entries, ({ isLeftOut, message }) => `${isLeftOut === true} ${message}`)
  return [...groups.values()].flatMap((same) => {
    const [{ isLeftOut = false, message }] = same
    if (same.length <= maxNotSent && !isLeftOut) return formatEntries(same, kind)
    return [`${kind}${pluralize(same.length, 'write')}\n    ${escapeInvisible(message)}`]
  })
}

function formatEntry({ id, domains, items, message, place }: Unconfirmed, kind: string): string {
  const what = domains.length === 0 ? '' : `: ${items.join(', ')} of ${domains.join(', ')}`
  const where = place === null ? '' : ` (${place})`
  return `${kind} ${id}${escapeInvisible(what + where)}\n    ${escapeInvisible(message)}`
}

function formatUnconfirmed(title: string, entries: string[]): string {
  if (entries.length === 0) return ''
  const { selected, omitted } = selectFitting(
    entries.map((text) => ({ text })),
    listRoom,
  )
  const lines = [...selected.map(({ text }) => text), ...formatRest(omitted.length)]
  return `#### ${title}\n\n${fenceText(lines.join('\n'))}`
}

function formatRest(count: number, hint = ''): string[] {
  return count > 0 ? [`… and ${formatCount(count)} more${hint}`] : []
}

function formatWaves(events: ApplyEvent[]): string {
  const lines = events.flatMap((event) =>
    event.type === 'wave.judged' ? [formatRolloutEvent(event, plainPaint)] : [],
  )
  return lines.length === 0 ? '' : foldText('Waves', joinFirstLines(lines, maxWaves))
}
