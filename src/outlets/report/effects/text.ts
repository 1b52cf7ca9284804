import type { EffectGroup, Effects } from '../../../core/effects/group.ts'
import { append } from '../../../core/model/lists.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import type { Paint } from '../text/paint.ts'
import { wrap } from '../text/wrap.ts'
import {
  mergeAlike,
  classTitles,
  isMissingUnmanaged,
  isUnknownTwice,
  describeUnknownTwice,
  describeCounts,
  describeDelta,
  describeGroup,
  describeRequests,
} from './describe-effects.ts'

/** Most groups without `-v`. */
const maxGroups = 8

/** Formats what a change does to requests, in lines of at most the columns. */
export function formatEffects(
  effects: Effects,
  { paint, verbose, ...layout }: { paint: Paint; columns: number; verbose: boolean },
): string {
  const columns = Math.min(layout.columns, 80)
  const known = verbose
    ? effects.groups
    : mergeAlike(effects.groups.filter((each) => !isUnknownTwice(each)))
  const shown = verbose ? known : known.slice(0, maxGroups)
  const rest = known.length - shown.length
  const unknown = verbose ? null : describeUnknownTwice(effects)
  const lines = [
    wrap(`Requests: ${describeCounts(effects)}`, columns, '').replace(/^Requests:/, paint.bold),
  ]
  let title = ''
  for (const group of shown) {
    const own = classTitles[group.class]
    if (own !== title) lines.push(paint.bold(`  ${own}`))
    title = own
    append(lines, formatGroup(group, effects, columns, verbose))
  }
  if (rest > 0) lines.push(paint.dim(`  … and ${pluralize(rest, 'more group')} (-v shows all)`))
  if (unknown !== null) lines.push(paint.dim(wrap(`${unknown} (-v shows them)`, columns, '  ')))
  if (isMissingUnmanaged(effects)) {
    const hint = '"--assume unmanaged=absent" takes items that were not managed as not set.'
    lines.push(paint.dim(wrap(hint, columns, '  ')))
  }
  return lines.join('\n')
}

function formatGroup(
  group: EffectGroup,
  effects: Effects,
  columns: number,
  verbose: boolean,
): string[] {
  const answers = verbose ? group.deltas.map(describeDelta) : [describeGroup(group)]
  return [
    ...answers.map((text) => wrap(text, columns, '    ')),
    wrap(`${describeRequests(group, effects)} (${group.items.join(', ')})`, columns, '      '),
  ]
}
