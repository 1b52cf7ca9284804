import { selectDefinite, type Plan } from '../../../core/model/plan.ts'
import { formatEffectsMarkdown } from '../effects/markdown.ts'
import type { Witnesses } from '../effects/witnesses.ts'
import { formatWitnesses } from '../effects/witnesses-text.ts'
import type { PlanEffects } from './json.ts'
import { groupPlanChanges } from './blocks.ts'
import { formatChangeParts, formatChangeTable, showWhole } from './change-parts.ts'
import { fenceText, joinFirstLines, foldText, maxCharacters } from '../text/markdown.ts'
import { plainPaint } from '../text/paint.ts'
import { formatImpact } from './impact.ts'
import { formatConditional, formatNothing, formatPlanSummary, formatStays } from './summary.ts'
import { formatWaves, formatWrite } from './text.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

const style = { paint: plainPaint, columns: 110, verbose: false }
const whole = showWhole('edgewise plan -v')
const maxWrites = 40
const maxWitnessLines = 60
const maxWarnings = 12
/** Domains of the first wave that a comment names. */
export const maxFirstDomains = 10

/**
 * Formats a plan as Markdown for a comment: the summary, the warnings, a table of items, then a
 * folded section for each block of equal changes. Values are in code fences that they can't close.
 * The text never exceeds the limit of a comment; omitted changes are counted.
 */
export function formatPlanMarkdown(
  plan: Plan,
  { effects, witnesses }: PlanEffects = { effects: null, witnesses: null },
): string {
  const warnings =
    plan.warnings.length === 0
      ? ''
      : `\n${fenceText(
          joinFirstLines(
            plan.warnings.map((text) => `note: ${escapeInvisible(text)}`),
            maxWarnings,
          ),
        )}`
  const noticed = [
    ...formatStays(plan.stays).map((text) => `${fenceText(text)}\n`),
    ...(effects === null ? [] : [`${formatEffectsMarkdown(effects)}\n`]),
  ].join('')
  const definite = selectDefinite(plan)
  if (definite.changes.length === 0)
    return `### Edgewise plan\n\n${noticed}${formatNothing(plan)}\n${warnings}`
  const impact = formatImpact(definite.impact)
  const head =
    `### Edgewise plan\n\n${noticed}${formatPlanSummary(plan, plainPaint)}\n` +
    `${impact === null ? '' : `\nImpact: ${impact}.\n`}${formatCompared(plan)}${warnings}\n` +
    formatChangeTable(definite.changes)
  const lines = [
    ...formatWaves(definite, maxFirstDomains),
    ...definite.writes.map((write) => formatWrite(write, definite, style)),
  ]
  const writes =
    lines.length === 0
      ? ''
      : `\n${foldText('Writes', joinFirstLines(lines, maxWrites, whole.name))}`
  const shown = witnesses === null ? '' : `\n${foldWitnesses(witnesses)}`
  const end = shown + writes
  const room = maxCharacters - head.length - end.length
  return `${head}${formatChangeParts(groupPlanChanges(definite.changes), room, whole)}${end}`
}

/** Formats the number of conditional changes as a paragraph; empty for none. */
export function formatCompared(plan: Plan): string {
  const compared = formatConditional(plan)
  return compared === null ? '' : `\n${compared}.\n`
}

function foldWitnesses(witnesses: Witnesses): string {
  const [title = '', ...lines] = formatWitnesses(witnesses, style).split('\n')
  return foldText(title, joinFirstLines(lines, maxWitnessLines, whole.name))
}
