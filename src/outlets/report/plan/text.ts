import { append, findMax, groupBy, addUp } from '../../../core/model/lists.ts'
import {
  isConditional,
  isDelete,
  symbols,
  type Change,
  type Write,
} from '../../../core/model/change.ts'
import { selectDefinite, type Plan } from '../../../core/model/plan.ts'
import { computeShare } from '../../../core/model/statistics.ts'
import { formatCount, formatLength, listSome, pluralize } from '../../../core/model/text/words.ts'
import { formatPercent } from '../stats/figures.ts'
import { measureWidth } from '../text/display-width.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { hardBlank, truncate, wrap, wrapSentences } from '../text/wrap.ts'
import { countChanges, groupPlanChanges, type Block } from './blocks.ts'
import { actionTitles, tabulateChanges } from './change-parts.ts'
import { formatBlock, selectColours, type PlanTextOptions } from './format-block.ts'
import { formatImpact } from './impact.ts'
import {
  formatConditional,
  formatNothing,
  formatPlanSummary,
  formatStays,
  listApprovals,
} from './summary.ts'

/** Maximum number of blocks, and of rows of the table. */
const [maxBlocks, maxRows] = [20, 15]
/** Maximum number of blocks of a plan without a table: their titles say the same. */
const maxUntabled = 3
/** Number of lines from which the summary is repeated at the end. */
const minRepeated = 20
const unlimitedColumns = 100_000

/**
 * Formats a plan as text: the summary, a table of items, blocks of changes, the writes. A long one
 * may end with the summary. Ends without a line break. Conditional changes are only counted unless
 * all changes are asked for.
 */
export function formatPlan(plan: Plan, options: PlanTextOptions): string {
  const definite = selectDefinite(plan)
  const conditional = formatConditionalBlocks(plan, options)
  if (definite.changes.length === 0) {
    const nothing = formatUnchanged(plan) + formatNothing(plan, hintAt(options))
    const head = [...listStayLines(plan, options), wrapSentences(nothing, options.columns)]
    return [head.join('\n'), ...conditional].join('\n\n')
  }
  const summary = formatSummary(plan, options)
  const blocks = groupPlanChanges(definite.changes)
  const text = [
    summary,
    ...(blocks.length <= maxUntabled ? [] : formatTable(definite.changes, options)),
    ...formatBlocks(blocks, options),
    ...conditional,
    ...formatWrites(definite, options),
  ].join('\n\n')
  const isShort = options.repeatsSummary !== true || text.split('\n').length < minRepeated
  return isShort ? text : `${text}\n\n${summary}`
}

/** Formats the conditional changes if all changes are asked for. */
function formatConditionalBlocks({ changes }: Plan, options: PlanTextOptions): string[] {
  const blocks = options.verbose ? groupPlanChanges(changes.filter(isConditional)) : []
  if (blocks.length === 0) return []
  return [options.paint.bold('Compared at the apply'), ...formatBlocks(blocks, options)]
}

function hintAt({ verbose, whole = '-v' }: PlanTextOptions): string {
  return verbose ? '' : ` (${whole} lists them)`
}

function formatUnchanged({ summary }: Plan): string {
  return summary.unchanged === 0
    ? ''
    : `${pluralize(summary.unchanged, 'item is', 'items are')} as recorded. `
}

function listStayLines({ stays }: Plan, { paint, columns }: PlanTextOptions): string[] {
  return formatStays(stays).map((text) => paint.yellow(wrapSentences(text, columns)))
}

/** Formats the summary; lines break between its parts. */
function formatSummary(plan: Plan, options: PlanTextOptions): string {
  const { paint, columns } = options
  const compared = formatConditional(plan)
  const lines: string[] = []
  const parts = formatPlanSummary(plan, paint).split(' · ')
  for (const [i, part] of parts.entries()) {
    const longer = `${lines.at(-1)} · ${part}`
    const end = i === parts.length - 1 ? '' : ' ·'
    if (lines.length > 0 && measureWidth(longer + end) <= columns) lines[lines.length - 1] = longer
    else lines.push(lines.length === 0 ? part : `  ${part}`)
  }
  const impact = formatImpact(selectDefinite(plan).impact, options.verbose)
  return [
    lines.map((line) => wrapSentences(line, columns)).join(' ·\n'),
    ...listStayLines(plan, options),
    ...(impact === null
      ? []
      : [wrapSentences(`Impact: ${impact}`, columns).replace(/^Impact:/, paint.bold)]),
    ...(compared === null ? [] : [`${compared}${hintAt(options)}.`]),
  ].join('\n')
}

/** Formats the number of changed domains by item and action, right-aligned. */
function formatTable(
  changes: Change[],
  { paint, verbose, whole = '-v' }: PlanTextOptions,
): string[] {
  const table = tabulateChanges(changes)
  if (table === null) return []
  const rest = verbose ? 0 : Math.max(0, table.rows.length - maxRows)
  const items = table.rows.map(({ item }) => escapeInvisible(item))
  const width = findMax(items.map(measureWidth), 'item'.length)
  const titles = table.actions.map((action) => actionTitles[action])
  const head = `  ${'item'.padEnd(width)}${titles.map((title) => `  ${title}`).join('')}`
  const rows = table.rows.map(({ counts }, i) => {
    const cells = counts.map((count, n) => {
      const cell = (count === 0 ? '' : String(count)).padStart(titles[n]?.length ?? 0)
      return count === 0 ? cell : selectColours(paint)[table.actions[n] ?? 'set'](cell)
    })
    const item = items[i] ?? ''
    const name = item + ' '.repeat(width - measureWidth(item))
    return `  ${name}${cells.map((cell) => `  ${cell}`).join('')}`.trimEnd()
  })
  const folded = paint.dim(`  … and ${pluralize(rest, 'more item')} (${whole} lists them)`)
  const lines = rest < 2 ? rows : [...rows.slice(0, maxRows), folded]
  return [[paint.dim(head), ...lines].join('\n')]
}

/** Formats blocks: all if verbose, else the largest, then what is folded. */
export function formatBlocks(blocks: Block[], options: PlanTextOptions): string[] {
  const { verbose, columns, paint, whole = '-v' } = options
  const shown = verbose ? blocks : blocks.slice(0, maxBlocks)
  const rest = blocks.slice(shown.length)
  const texts = shown.map((block) => formatBlock(block, options))
  if (rest.length === 0) return texts
  const folded = wrap(`… ${describeBlocks(rest)} (${whole} shows all)`, columns, '  ')
    .trimStart()
    .replaceAll(hardBlank, ' ')
  return [...texts, paint.dim(folded)]
}

/** Describes folded blocks: `412 more changes on 380 domains: ~ origin 380, + timeout 32`. */
function describeBlocks(blocks: Block[]): string {
  const counts = [
    ...groupBy(
      blocks.flatMap(({ domains, parts }) =>
        parts.map(({ item, action }) => ({
          name: `${symbols[action]}${hardBlank}${escapeInvisible(item)}`,
          count: domains.length,
        })),
      ),
      ({ name }) => name,
    ),
  ]
    .map(([name, same]) => ({ name, count: addUp(same, ({ count }) => count) }))
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
  const changes = addUp(blocks, countChanges)
  const domains = new Set(blocks.flatMap((block) => block.domains)).size
  const names = listSome(
    counts.map(({ name, count }) => `${name}${hardBlank}${count}`),
    6,
  )
  return (
    `${pluralize(changes, 'more change', 'more changes')} on ${pluralize(domains, 'domain')}: ` +
    names
  )
}

/** Formats the writes by wave; folded to their number unless they are asked for. */
function formatWrites(plan: Plan, options: PlanTextOptions): string[] {
  const { writes, details = [] } = plan
  if (writes.length === 0) return []
  const { verbose, paint, whole = '-v' } = options
  const waves = [...groupBy(writes, ({ wave }) => wave)]
  const lines = waves.flatMap(([wave, own]) => [
    ...(waves.length > 1 ? [paint.dim(formatWave(wave, plan))] : []),
    ...(waves.length > 1 && verbose && wave === 1
      ? [paint.dim(wrap(listFirstDomains(plan).join(', '), options.columns, '    '))]
      : []),
    ...(verbose ? own.map((write) => formatWrite(write, plan, options)) : []),
  ])
  if (verbose)
    append(
      lines,
      details.map((text) => wrap(text, options.columns, '  ')),
    )
  const title = verbose
    ? paint.bold('Writes')
    : `${paint.bold('Writes:')} ${formatCount(writes.length)} ${paint.dim(`(${whole} lists them)`)}`
  return [[title, ...lines].join('\n')]
}

/** Formats `  Wave 2: 9 domains, 1 write`. */
function formatWave(wave: number, plan: Plan): string {
  const own = plan.writes.filter((write) => write.wave === wave)
  const domains = new Set(own.flatMap((write) => write.domains)).size
  const approval = listApprovals(plan).includes(wave) ? ', after approval' : ''
  const counts = `${pluralize(domains, 'domain')}, ${pluralize(own.length, 'write')}`
  return `  Wave ${wave}: ${counts}${approval}${formatForeseen(wave, plan)}`
}

const undetected = {
  'few-requests': 'too few requests',
  'many-errors': 'too many errors, or too varied ones',
  'unknown-traffic': 'traffic not known',
}

/** Formats the share of the requests of a wave, and what its health check detects, on a line. */
function formatForeseen(wave: number, { waves = [] }: Plan): string {
  const own = waves.find((each) => each.wave === wave)?.traffic
  if (own === undefined) return ''
  const all = addUp(waves, ({ traffic }) => traffic?.requests ?? 0)
  const share = `${formatPercent(computeShare(own.requests, all))} % of the requests`
  if (own.undetected !== undefined)
    return `\n    ${share}, detects no rise of errors: ${undetected[own.undetected]}`
  if (own.detects === undefined) return `\n    ${share}`
  const { rise, seconds } = own.detects
  const points = `${rise} ${rise === 1 ? 'point' : 'points'}`
  return `\n    ${share}, detects a rise of ${points} in ${formatLength(seconds * 1000)}`
}

/** Lists the domains of the first wave, which a change is tried on. */
function listFirstDomains({ writes }: Plan): string[] {
  const first = writes.flatMap(({ wave, domains }) => (wave === 1 ? domains : []))
  return [...new Set(first)].toSorted().map(escapeInvisible)
}

/** Formats the waves of a plan with several, and some domains of the first one. */
export function formatWaves(plan: Plan, maxDomains: number): string[] {
  const waves = [...new Set(plan.writes.map(({ wave }) => wave))]
  if (waves.length < 2) return []
  return waves.flatMap((wave) => [
    formatWave(wave, plan),
    ...(wave === 1 ? [`    ${listSome(listFirstDomains(plan), maxDomains)}`] : []),
  ])
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
      : `${pluralize(write.domains.length, 'domain')} from ${write.domains[0]}`
  const names = Object.entries(write.items).map(([item, { name }]) =>
    name === 'replace' || name === 'delete' ? item : `${item} (${name})`,
  )
  const items = isDelete(write) ? `unset by DELETE (${names.join(', ')})` : names.join(', ')
  return truncate(
    escapeInvisible(`  ${number}  ${count}: ${items}`),
    verbose ? unlimitedColumns : columns,
  )
}
