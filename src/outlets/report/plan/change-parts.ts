import { type Action, type Change, symbols } from '../../../core/model/change.ts'
import type { ItemKey } from '../../../core/model/item.ts'
import { groupBy, addUp } from '../../../core/model/lists.ts'
import { formatCount, listSome, pluralize } from '../../../core/model/text/words.ts'
import { type Block, countChanges } from './blocks.ts'
import {
  type PlanTextOptions,
  formatVariants,
  listBlockLines,
  listFieldNames,
} from './format-block.ts'
import { fenceText, formatCodeHtml, selectFitting } from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'

/** Maximum number of sections. */
const maxParts = 60
/** Characters of the names of omitted fields. */
const maxNames = 2500
/** Maximum number of lines of sections that are shown without a click. */
const maxOpenLines = 40
/** First characters of lines that code hosts colour. */
const marks: Record<Action, string> = { set: '+', change: '!', unset: '-', release: ' ' }

/** The output that shows everything that a comment folds. */
export interface Whole {
  /** Its name in a code fence, as the subject of a verb. */
  name: string
  /** Sentence in Markdown, without a full stop. */
  sentence: string
}

/** Returns the command that shows everything, in a clone. */
export function showWhole(command: string): Whole {
  return { name: command, sentence: `\`${command}\` in a clone shows all` }
}

/**
 * Formats a table of the number of changed domains by item and action, with a blank line; empty for
 * a single row and action.
 */
export function formatChangeTable(changes: Change[]): string {
  const table = tabulateChanges(changes)
  if (table === null) return ''
  const rows = table.rows.map(({ item, counts }) => {
    const cells = counts.map((count) => (count === 0 ? '' : formatCount(count)))
    return `| ${formatItem(item, '`')} | ${cells.join(' | ')} |\n`
  })
  const titles = table.actions.map((action) => actionTitles[action])
  return (
    `| item | ${titles.join(' | ')} |\n|---|${titles.map(() => '--:|').join('')}\n` +
    `${rows.join('')}\n`
  )
}

/**
 * Formats changes as folded sections, one for each block, within the length limit. A few lines are
 * not folded. Ends with the count of omitted changes.
 *
 * @param room limit in characters
 * @param whole what shows all changes
 */
export function formatChangeParts(blocks: Block[], room: number, whole: Whole): string {
  const options: PlanTextOptions = {
    paint: plainPaint,
    columns: 110,
    verbose: false,
    whole: whole.name,
  }
  const sections = blocks.map((block) => {
    const lines = listDiffLines(block, options)
    return { block, lines, title: formatTitle(block) }
  })
  const isShort = addUp(sections, ({ lines }) => lines.length + 3) <= maxOpenLines
  const parts = sections.map(({ block, lines, title }) => ({
    block,
    text: formatSection(title, lines, isShort),
  }))
  const { selected, omitted } = selectFitting(parts.slice(0, maxParts), room - maxNames - 300)
  const rest = [...omitted, ...parts.slice(maxParts)].map(({ block }) => block)
  const text = selected.map((part) => part.text).join('\n')
  if (rest.length === 0) return text
  const domains = new Set(rest.flatMap((block) => block.domains)).size
  const count = (some: Block[]) => formatCount(addUp(some, countChanges))
  const fields = rest.flatMap((block) =>
    block.parts.flatMap(({ item, lines }) =>
      lines.flatMap((line) =>
        listFieldNames(line).map((field) => formatItem(`${item} ${field}`.trim(), '`')),
      ),
    ),
  )
  const names = listSome([...new Set(fields)], 60)
  return (
    `${text}\nOmitted: ${count(rest)} of ${count(blocks)} changes, on ` +
    `${pluralize(domains, 'domain')}. ${whole.sentence}.\n` +
    (names.length > maxNames ? '' : `Their fields: ${names}.\n`)
  )
}

function formatSection(title: string, lines: string[], isOpen: boolean): string {
  const fence = fenceText(lines.join('\n'), 'diff')
  return `<details${isOpen ? ' open' : ''}><summary>${title}</summary>\n\n${fence}\n</details>\n`
}

function formatTitle({ domains, parts }: Block): string {
  const whom =
    domains.length === 1 ? formatCodeHtml(domains[0] ?? '') : pluralize(domains.length, 'domain')
  const items = parts.map(({ item, action }) => `${symbols[action]} ${formatItem(item)}`)
  const [part] = parts
  const danger = parts.some(({ isDestructive }) => isDestructive) ? ' · <b>destructive</b>' : ''
  return part !== undefined && parts.length === 1
    ? `${items.join('')} · ${whom}${formatVariants(part)}${danger}`
    : `${whom} · ${listSome(items, 6)}${danger}`
}

/** Lists the lines of a block; the first character of each is the action. */
function listDiffLines(block: Block, options: PlanTextOptions): string[] {
  return listBlockLines(block, options, 1).map(({ action, indent, text, kind }) => {
    const mark = kind === 'warning' ? '-' : action === null ? ' ' : marks[action]
    return `${mark}${' '.repeat(indent)}${text}`.trimEnd()
  })
}

/** Formats the name of an item between quotes, or escaped: state may hold any name. */
function formatItem(item: string, quote = ''): string {
  return /^\w[\w. ]*$/.test(item) ? `${quote}${item}${quote}` : formatCodeHtml(item)
}

/** Number of changed domains by item and action. */
interface ChangeTable {
  /** Actions that occur. */
  actions: Action[]
  /** Items with most changes first; `counts` has a number for each action. */
  rows: { item: ItemKey; counts: number[] }[]
}

/** Titles of the columns. */
export const actionTitles: Record<Action, string> = {
  set: `${symbols.set} set`,
  change: `${symbols.change} change`,
  unset: `${symbols.unset} unset`,
  release: `${symbols.release} release`,
}
const allActions: Action[] = ['set', 'change', 'unset', 'release']

/** Counts the changed domains by item and action; null for one action on one item. */
export function tabulateChanges(changes: Change[]): ChangeTable | null {
  const actions = allActions.filter((action) => changes.some((change) => change.action === action))
  const groups = [...groupBy(changes, ({ item }) => item)].toSorted(
    ([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1),
  )
  if (groups.length < 2 && actions.length < 2) return null
  const rows = groups.map(([item, same]) => ({
    item,
    counts: actions.map((action) => same.filter((change) => change.action === action).length),
  }))
  return { actions, rows }
}
