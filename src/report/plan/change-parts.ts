import { symbols, type Action, type Change } from '../../model/change.ts'
import { groupBy } from '../../model/group-by.ts'
import { pluralize, listSome } from '../../model/words.ts'
import { formatCodeHtml, selectFitting, foldText } from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'
import { groupChanges, formatBlock, type Block, type PlanTextOptions } from './text.ts'

const style: PlanTextOptions = { paint: plainPaint, columns: 110, verbose: false }
const actions: Action[] = ['set', 'change', 'unset', 'release']

/** A table of how many domains change in which item: a few lines for however many changes. */
export function formatChangeTable(changes: Change[]): string {
  const rows = [...groupBy(changes, (change) => change.item)].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const cells = rows.map(([item, same]) => {
    const counts = actions.map((action) => same.filter((change) => change.action === action).length)
    return `| \`${item}\` | ${counts.map((count) => (count === 0 ? '' : String(count))).join(' | ')} |\n`
  })
  return `| item | ${actions.map((action) => `${symbols[action]} ${action}`).join(' | ')} |\n|---|--:|--:|--:|--:|\n${cells.join('')}`
}

/**
 * Changes as folded parts, one for each set of equal changes, as far as there is room for them.
 * Ends with a sentence that counts what was left out.
 *
 * @param room characters
 */
export function formatChangeParts(changes: Change[], room: number, whole: string): string {
  const sentence = 200
  const parts = groupChanges(changes).map((block) => ({ block, text: blockPart(block) }))
  const { kept, left } = selectFitting(parts, room - sentence)
  const domains = new Set(left.flatMap(({ block }) => block.domains)).size
  const count = left.reduce(
    (sum, { block }) => sum + block.changes.length * block.domains.length,
    0,
  )
  const rest =
    left.length === 0
      ? ''
      : `\nLeft out here: ${count} of ${changes.length} changes, on ${pluralize(domains, 'domain')}. ${whole} shows all.\n`
  return `${kept.map(({ text }) => text).join('\n')}${rest}`
}

function blockPart(block: Block): string {
  const [first = ''] = block.domains
  const whom =
    block.domains.length === 1 ? formatCodeHtml(first) : `${block.domains.length} domains`
  const items = block.changes.map((change) => `${symbols[change.action]} ${change.item}`)
  const names = listSome(items, 6)
  return foldText(`${whom} ${names}`, formatBlock(block, style))
}
