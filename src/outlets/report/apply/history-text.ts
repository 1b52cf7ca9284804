import {
  describeEntry,
  describeLength,
  describeWho,
  listGrounds,
  nameOutcome,
  type Act,
  type HistoryEntry,
  type PastApply,
  type PastChange,
} from '../../../core/model/applied.ts'
import { symbols } from '../../../core/model/change.ts'
import type { ItemKey } from '../../../core/model/item.ts'
import { formatTime, pluralize } from '../../../core/model/text/words.ts'
import { buildPastPart } from './past-part.ts'
import { formatCounts } from './text.ts'
import {
  type PlanTextOptions,
  formatLines,
  listBlockLines,
  selectColours,
} from '../plan/format-block.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { wrap } from '../text/wrap.ts'

/** Maximum number of faults of a history that are listed. */
export const maxFindings = 50

/** Formats faults of a history: a line for each. */
export function formatFindings(findings: { message: string }[], paint: Paint): string[] {
  return findings
    .slice(0, maxFindings)
    .map(({ message }) => `${paint.red('wrong:')} ${escapeInvisible(message)}\n`)
}

/**
 * Formats the history, the latest first: lines for each apply, and for what people did otherwise.
 *
 * @param dropped number of earlier applies that are not listed
 */
export function formatHistory(
  applies: HistoryEntry[],
  paint: Paint,
  dropped = 0,
  acts: Act[] = [],
): string {
  if (applies.length + acts.length === 0) return 'There are no applies yet.\n'
  const all = [
    ...applies.map((apply) => ({ at: apply.startedAt, text: formatEntry(apply, paint) })),
    ...acts.map((act) => ({ at: act.at, text: formatAct(act, paint) })),
  ]
  const entries = all
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .map(({ text }) => text)
    .join('')
  const more = pluralize(dropped, 'earlier apply is', 'earlier applies are')
  return dropped === 0 ? entries : `${entries}${more} not listed any more.\n`
}

const wrapEntry = (text: string) => wrap(escapeInvisible(text), 80, '  ')

/** Formats what somebody did beside an apply. */
function formatAct(act: Act, paint: Paint): string {
  const { at, text, note } = describeEntry(act)
  return `${escapeInvisible(text)}\n${paint.dim(wrapEntry(`${formatTime(at)} · ${note}`))}\n`
}

/** Formats an apply: its outcome and counts, then when and by whom. */
export function formatEntry(apply: HistoryEntry, paint: Paint): string {
  const { id, startedAt, endedAt, writes, parts, outcome, pruned, fault } = apply
  const colour = outcome === 'complete' ? paint.green : paint.yellow
  const counts = formatCounts(writes, parts, endedAt === null ? 'never begun' : 'not sent')
  const about = [formatTime(startedAt), describeLength(apply), describeWho(apply) || []].flat()
  const wrong = fault === undefined ? [] : ['  ', ...formatFindings([{ message: fault }], paint)]
  return [
    `${escapeInvisible(id)}  ${colour(nameOutcome(apply))}  ${counts || 'no write'}\n`,
    `${paint.dim(wrapEntry(about.join(' · ')))}\n`,
    ...listGrounds(apply).map((note) => `${wrapEntry(note)}\n`),
    pruned === true ? `  ${paint.dim("pruned: can't be rolled back")}\n` : '',
    ...wrong,
  ].join('')
}

/** Formats the history of a domain, in the order of `applies`. Ends with a line break. */
export function formatDomainHistory(
  domain: string,
  applies: PastApply[],
  options: PlanTextOptions,
): string {
  const title = options.paint.bold(escapeInvisible(domain))
  if (applies.length === 0) return `${title}\n\nNo apply has written it as far as is stored.\n`
  const texts = applies.map(({ items, ...apply }) =>
    [
      formatEntry(apply, options.paint).trimEnd(),
      ...Array.from(items, ([item, change]) => formatChange(item, change, options)),
    ].join('\n'),
  )
  return `${title}\n\n${texts.join('\n\n')}\n`
}

function formatChange(item: ItemKey, change: PastChange, options: PlanTextOptions): string {
  const { paint } = options
  const part = buildPastPart(item, change)
  const colour =
    change.outcome === 'confirmed' || change.outcome === 'released' ? 'green' : 'yellow'
  // The only part of a block has no title of its own.
  const lines = listBlockLines({ domains: [''], parts: [part] }, options, 6)
  const symbol = selectColours(paint)[part.action](symbols[part.action])
  const title = `  ${symbol} ${escapeInvisible(item)}  ${paint[colour](change.outcome)}`
  return [title, ...formatLines(lines, options)].join('\n')
}
