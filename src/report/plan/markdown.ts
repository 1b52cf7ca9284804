import type { Plan } from '../../model/plan.ts'
import { pluralize } from '../../model/words.ts'
import { formatChangeParts, formatChangeTable } from './change-parts.ts'
import { fenceText, joinFirstLines, foldText, maxCharacters } from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'
import { formatPlanSummary, formatWave, formatWrite } from './text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

const style = { paint: plainPaint, columns: 110, verbose: false }
const mostWrites = 40
const mostWarnings = 12

/**
 * A plan as Markdown for a comment: the sum, what the reader should know, a table of items, then a
 * folded part for each block of equal changes. Values stand in code fences that they can't end, so
 * that nothing in them is Markdown. It never exceeds what a comment may hold; what is left out is
 * counted.
 */
export function formatPlanMarkdown(plan: Plan): string {
  const warnings =
    plan.warnings.length === 0
      ? ''
      : `\n${fenceText(
          joinFirstLines(
            plan.warnings.map((text) => `note: ${escapeInvisible(text)}`),
            mostWarnings,
          ),
        )}`
  if (plan.changes.length === 0) return `### Edgewise plan\n\nNo changes.\n${warnings}`
  const domains = pluralize(plan.summary.domains, 'domain')
  const head = `### Edgewise plan\n\n${formatPlanSummary(plan, plainPaint)} · ${domains}\n${warnings}\n${formatChangeTable(plan.changes)}\n`
  const waves = [...new Set(plan.writes.map(({ wave }) => wave))]
  const lines = [
    ...(waves.length > 1 ? waves.map((wave) => formatWave(wave, plan)) : []),
    ...plan.writes.map((write) => formatWrite(write, plan, style)),
  ]
  const writes =
    lines.length === 0 ? '' : `\n${foldText('Writes', joinFirstLines(lines, mostWrites))}`
  return `${head}${formatChangeParts(plan.changes, maxCharacters - head.length - writes.length, '`edgewise plan`')}${writes}`
}
