import { symbols } from '../model/change.ts'
import type { Plan } from '../model/plan.ts'
import { plainPaint } from './paint.ts'
import { blocksOf, blockText, sumLine, writeLine, type Block, type PlanTextOptions } from './plan-text.ts'

/** Comments of code hosts end at 65,536 characters; what does not fit is counted. */
const mostCharacters = 65_000
const style: PlanTextOptions = { paint: plainPaint, columns: 110, verbose: false }

/**
 * A plan as Markdown for a comment: the sum first, then a folded part for each block of equal changes. Values stand in
 * code fences that they can't end, so that nothing in them is Markdown.
 */
export function planMarkdown(plan: Plan): string {
  if (plan.changes.length === 0) return '### Edgewise\n\nNo changes.\n'
  const head = `### Edgewise\n\n${sumLine(plan, plainPaint)}\n`
  const blocks = blocksOf(plan.changes)
  const parts = [...blocks.map(blockPart), folded('Writes', plan.writes.map((write) => writeLine(write, plan, style)).join('\n'))]
  const kept: string[] = []
  let length = head.length
  for (const part of parts) {
    length += part.length + 1
    if (length > mostCharacters) break
    kept.push(part)
  }
  const left = parts.length - kept.length
  const rest = left === 0 ? '' : `\n${left} of ${parts.length} parts are left out here; \`edgewise plan\` shows all.\n`
  return `${head}\n${kept.join('\n')}${rest}`
}

function blockPart(block: Block): string {
  const [first = ''] = block.domains
  const whom = block.domains.length === 1 ? first : `${block.domains.length} domains`
  const items = block.changes.map((change) => `${symbols[change.action]} ${change.item}`)
  const names = items.length > 6 ? `${items.slice(0, 6).join(', ')} and ${items.length - 6} more` : items.join(', ')
  return folded(`<code>${whom}</code> ${names}`, blockText(block, style))
}

/** A folded part. The fence is longer than any run of backticks in the text. */
function folded(title: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length))
  const fence = '`'.repeat(longest + 1)
  return `<details><summary>${title}</summary>\n\n${fence}\n${text}\n${fence}\n\n</details>\n`
}
