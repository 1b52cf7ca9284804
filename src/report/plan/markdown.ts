import type { Plan } from '../../model/plan.ts'
import { counted } from '../../model/words.ts'
import { changeParts, changeTable } from './change-parts.ts'
import { fenced, firstLines, folded, mostCharacters } from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'
import { sumLine, waveLine, writeLine } from './text.ts'
import { visible } from '../text/escape-invisible.ts'

const style = { paint: plainPaint, columns: 110, verbose: false }
const mostWrites = 40
const mostWarnings = 12

/**
 * A plan as Markdown for a comment: the sum, what the reader should know, a table of items, then a
 * folded part for each block of equal changes. Values stand in code fences that they can't end, so
 * that nothing in them is Markdown. It never exceeds what a comment may hold; what is left out is
 * counted.
 */
export function planMarkdown(plan: Plan): string {
  const warnings =
    plan.warnings.length === 0
      ? ''
      : `\n${fenced(
          firstLines(
            plan.warnings.map((text) => `note: ${visible(text)}`),
            mostWarnings,
          ),
        )}`
  if (plan.changes.length === 0) return `### Edgewise plan\n\nNo changes.\n${warnings}`
  const domains = counted(plan.summary.domains, 'domain')
  const head = `### Edgewise plan\n\n${sumLine(plan, plainPaint)} · ${domains}\n${warnings}\n${changeTable(plan.changes)}\n`
  const waves = [...new Set(plan.writes.map(({ wave }) => wave))]
  const lines = [
    ...(waves.length > 1 ? waves.map((wave) => waveLine(wave, plan)) : []),
    ...plan.writes.map((write) => writeLine(write, plan, style)),
  ]
  const writes = lines.length === 0 ? '' : `\n${folded('Writes', firstLines(lines, mostWrites))}`
  return `${head}${changeParts(plan.changes, mostCharacters - head.length - writes.length, '`edgewise plan`')}${writes}`
}
