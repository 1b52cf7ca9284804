import type { Effects } from '../../../core/effects/group.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { fenceText } from '../text/markdown.ts'
import { truncate } from '../text/wrap.ts'
import {
  mergeAlike,
  isUnknownTwice,
  describeCounts,
  describeGroup,
  describeRequests,
} from './describe-effects.ts'

/** Most lines of the section, and columns of one. */
const [maxLines, maxColumns] = [12, 240]

/**
 * Formats the section *What visitors notice* of a comment, of at most 12 lines. Addresses and
 * answers stand in a code fence, where no character has an effect.
 */
export function formatEffectsMarkdown(effects: Effects): string {
  const groups = mergeAlike(effects.groups)
  const noticed = groups.filter((group) => group.class === 'visible' && !isUnknownTwice(group))
  const others = groups.length - noticed.length
  const lines = noticed.map((group) =>
    truncate(`${describeGroup(group)}   ${describeRequests(group, effects)}`, maxColumns),
  )
  const room = maxLines - 6
  const shown = lines.length <= room ? lines : lines.slice(0, room - 1)
  const rest = lines.length - shown.length
  const more = rest === 0 ? [] : [`… and ${pluralize(rest, 'more group')}`]
  const hidden = others === 0 ? '' : `; ${pluralize(others, 'other group')} in the report`
  const list = shown.length === 0 ? '' : `\n${fenceText([...shown, ...more].join('\n'))}`
  const nothing = shown.length === 0 && effects.total > 0 ? 'Nothing that visitors notice: ' : ''
  return `#### What visitors notice\n\n${nothing}${describeCounts(effects)}${hidden}.\n${list}`
}
