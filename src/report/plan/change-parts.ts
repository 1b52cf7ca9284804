import { symbols, type Action, type Change } from '../../model/change.ts'
import { groupBy } from '../../model/group-by.ts'
import { pluralize, listSome } from '../../model/words.ts'
import { formatCodeHtml, selectFitting, foldText } from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'
import { groupChanges, formatBlock, type Block, type PlanTextOptions } from './text.ts'

const style: PlanTextOptions = { paint: plainPaint, columns: 110, verbose: false }
const actions: Action[] = ['set', 'change', 'unset', 'release']

/** Formats a table of the number of changed domains by item and action. */
export function formatChangeTable(changes: Change[]): string {
  const rows = [...groupBy(changes, (change) => change.item)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const cells = rows.map(([item, same]) => {
    const counts = actions.map((action) => same.filter((change) => change.action === action).length)
    return (
      `| ${formatItem(item, '`')} | ` +
      `${counts.map((count) => (count === 0 ? '' : String(count))).join(' | ')} |\n`
    )
  })
  return (
    `| item | ${actions.map((action) => `${symbols[action]} ${action}`).join(' | ')} ` +
    `|\n|---|--:|--:|--:|--:|\n${cells.join('')}`
  )
}

/**
 * Formats changes as folded sections, one for each set of equal changes, within the length limit.
 * Ends with the count of omitted changes.
 *
 * @param room limit in characters
 */
export function formatChangeParts(changes: Change[], room: number, whole: string): string {
  const sentence = 200
  const parts = groupChanges(changes).map((block) => ({ block, text: formatBlockPart(block) }))
  const { selected, omitted } = selectFitting(parts, room - sentence)
  const domains = new Set(omitted.flatMap(({ block }) => block.domains)).size
  const count = omitted.reduce(
    (sum, { block }) => sum + block.changes.length * block.domains.length,
    0,
  )
  const rest =
    omitted.length === 0
      ? ''
      : `\nOmitted: ${count} of ${changes.length} changes, on ${pluralize(domains, 'domain')}. ` +
        `${whole} shows all.\n`
  return `${selected.map(({ text }) => text).join('\n')}${rest}`
}

function formatBlockPart(block: Block): string {
  const [first = ''] = block.domains
  const whom =
    block.domains.length === 1 ? formatCodeHtml(first) : `${block.domains.length} domains`
  const items = block.changes.map(
    (change) => `${symbols[change.action]} ${formatItem(change.item)}`,
  )
  const names = listSome(items, 6)
  return foldText(`${whom} ${names}`, formatBlock(block, style))
}

/** Formats the name of an item between quotes, or escaped: state may hold any name. */
function formatItem(item: string, quote = ''): string {
  return /^\w+$/.test(item) ? `${quote}${item}${quote}` : formatCodeHtml(item)
}
