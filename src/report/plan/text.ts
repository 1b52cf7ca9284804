import { findMax } from '../../model/append.ts'
import { canonicalizeJson } from '../../model/canonical-json.ts'
import { symbols, type Action, type Change, type Write } from '../../model/change.ts'
import { groupBy } from '../../model/group-by.ts'
import type { Domain } from '../../model/item.ts'
import type { Explanation, Plan } from '../../model/plan.ts'
import { pluralize } from '../../model/words.ts'
import type { Paint } from '../text/paint.ts'
import { listChangedFields, listValueLines, type ValueLine } from './value-lines.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { truncate, wrap } from '../text/wrap.ts'

/** Style of a plan as text. */
export interface PlanTextOptions {
  paint: Paint
  /** Width of the terminal. */
  columns: number
  /** List every domain and show values whole. */
  verbose: boolean
}

const maxDomains = 24
/** Maximum lines of a value. */
const maxLines = 8
const unlimitedColumns = 100_000

/**
 * Formats a plan as text: blocks of equal changes with their domains, one line per write, the
 * summary. Ends without a line break.
 */
export function formatPlan(plan: Plan, options: PlanTextOptions): string {
  if (plan.changes.length === 0) return `${formatUnchanged(plan)}No changes.`
  const blocks = groupChanges(plan.changes).map((block) => formatBlock(block, options))
  const reasons = new Map(plan.explanation?.writes.map(({ id, reason }) => [id, reason]))
  const inWaves = plan.writes.some(({ wave }) => wave !== plan.writes[0]?.wave)
  const writes = plan.writes.flatMap((write, i) => [
    ...(inWaves && write.wave !== plan.writes[i - 1]?.wave
      ? [options.paint.dim(formatWave(write.wave, plan))]
      : []),
    formatWrite(write, plan, options),
    ...formatReason(reasons.get(write.id), plan, options),
  ])
  return [
    ...blocks,
    ...(writes.length === 0 ? [] : [`${options.paint.bold('Writes')}\n${writes.join('\n')}`]),
    ...(plan.explanation === undefined
      ? []
      : [formatExplanation(plan.explanation, options.columns)]),
    formatPlanSummary(plan, options.paint),
  ].join('\n\n')
}

/**
 * Formats `Plan: 3 to set, 2 to change · 4 writes (at least 4) · 0 s`. Conditional changes are
 * counted separately.
 */
export function formatPlanSummary({ summary }: Plan, paint: Paint): string {
  const { conditional } = summary
  const parts = (
    [
      [summary.set, 'to set'],
      [summary.change - conditional, 'to change'],
      [summary.unset, 'to unset'],
      [summary.release, 'to release'],
      [conditional, "conditional: sent only if the secret's value differs"],
    ] as const
  ).flatMap(([count, words]) => (count > 0 ? [`${count} ${words}`] : []))
  const writes = `${pluralize(summary.writes, 'write')} (at least ${summary.lowerBound})`
  return (
    `${paint.bold('Plan:')} ${parts.join(', ')} · ${writes} · ` +
    formatDuration(summary.totalSeconds)
  )
}

function formatReason(
  reason: string | undefined,
  plan: Plan,
  { paint, columns }: PlanTextOptions,
): string[] {
  if (reason === undefined) return []
  const indent = ' '.repeat(4 + String(plan.writes.length).length)
  return [paint.dim(wrap(reason, columns, indent))]
}

/** Formats the number of writes without a search. */
function formatExplanation(
  { single, equalPatches, itemByItem }: Explanation,
  columns: number,
): string {
  const calls =
    `${single} calls one by one, ${equalPatches} with domains of equal changes together, ` +
    `${itemByItem} one item at a time.`
  return wrap(`The same changes take ${calls}`, columns, '').trimStart()
}

function formatUnchanged({ summary }: Plan): string {
  return summary.unchanged === 0
    ? ''
    : `${pluralize(summary.unchanged, 'item is', 'items are')} as recorded. `
}

function formatDuration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

/** Changes that are the same for each of these domains. */
export interface Block {
  domains: Domain[]
  changes: Change[]
}

/**
 * Groups changes into blocks: equal changes of many domains become one, with their domains. Larger
 * blocks come first.
 */
export function groupChanges(changes: Change[]): Block[] {
  const equal = groupBy(changes, ({ item, action, reason, by = null, before, after }) =>
    canonicalizeJson({ item, action, reason, by, before, after }),
  )
  const byDomains = groupBy(equal.values(), (same) => same.map((change) => change.domain).join(' '))
  return [...byDomains.values()]
    .map((sames) => ({
      domains: (sames[0] ?? []).map((change) => change.domain),
      changes: sames.flatMap((same) => same.slice(0, 1)),
    }))
    .toSorted(
      (a, b) =>
        b.domains.length - a.domains.length ||
        ((a.domains[0] ?? '') < (b.domains[0] ?? '') ? -1 : 1),
    )
}

/** Formats a block: the domains, then each change with its fields. */
export function formatBlock({ domains, changes }: Block, options: PlanTextOptions): string {
  const { paint, columns, verbose } = options
  const shown = verbose ? domains : domains.slice(0, maxDomains)
  const rest = domains.length - shown.length
  const names = `${shown.join(', ')}${rest > 0 ? ` … and ${rest} more (-v lists them)` : ''}`
  const title =
    domains.length === 1
      ? paint.bold(names)
      : `${paint.bold(`${domains.length} domains`)}\n${paint.dim(wrap(names, columns, '  '))}`
  return [title, ...changes.flatMap((change) => formatChange(change, options))].join('\n')
}

function formatChange(change: Change, { paint, columns, verbose }: PlanTextOptions): string[] {
  const colour = selectColours(paint)[change.action]
  const lines = listChangeLines(change)
  const width = findMax(
    lines.map((line) => measureWidth(line.field)),
    0,
  )
  const indent = ' '.repeat(6 + (width === 0 ? 0 : width + 2))
  return [
    `  ${colour(symbols[change.action])} ${escapeInvisible(change.item)}${formatNote(change)}`,
    ...lines.flatMap((line) => {
      const text = wrap(
        line.before === null ? line.after : `${line.before} → ${line.after}`,
        columns,
        indent,
      ).split('\n')
      const shown =
        verbose || text.length <= maxLines
          ? text
          : [...text.slice(0, maxLines), `${indent}… (-v shows all)`]
      return shown.map((part, i) =>
        i === 0 ? `      ${line.field.padEnd(width)}${part.slice(6 + width)}`.trimEnd() : part,
      )
    }),
  ]
}

function selectColours(paint: Paint): Record<Action, (text: string) => string> {
  return { set: paint.green, change: paint.yellow, unset: paint.red, release: paint.cyan }
}

function formatNote(change: Change): string {
  if (change.reason === 'cleared') return `  emptied by ${change.by ?? 'another item'}`
  if (change.action === 'release') return '  no longer managed; the service keeps its value'
  if (change.action === 'unset') return '  reset to unset'
  if (change.reason === 'secret-unknown') return '  conditional; sent only if the value differs'
  return change.reason === 'in-doubt' ? '  in-doubt; written again' : ''
}

function listChangeLines(change: Change): ValueLine[] {
  if (change.after === null) return []
  return change.before === null || change.reason === 'in-doubt'
    ? listValueLines(change.after)
    : listChangedFields(change.before, change.after)
}

/** Formats `  Wave 2: 9 domains, 1 write`. */
export function formatWave(wave: number, { writes }: Plan): string {
  const own = writes.filter((write) => write.wave === wave)
  const domains = new Set(own.flatMap((write) => write.domains)).size
  return `  Wave ${wave}: ${pluralize(domains, 'domain')}, ${pluralize(own.length, 'write')}`
}

/** Formats a write on one line. */
export function formatWrite(
  write: Write,
  plan: Plan,
  { columns, verbose }: PlanTextOptions,
): string {
  const number = String(write.id).padStart(String(plan.writes.length).length)
  const count =
    write.domains.length === 1
      ? write.domains[0]
      : `${write.domains.length} domains from ${write.domains[0]}`
  const items = Object.entries(write.items).map(([item, form]) =>
    form.name === 'replace' ? item : `${item} (${form.name})`,
  )
  return truncate(
    `  ${number}  ${count}: ${items.join(', ')}`,
    verbose ? unlimitedColumns : columns,
  )
}
