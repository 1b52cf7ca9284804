import type { Effects } from '../../../core/effects/group.ts'
import type { Drift } from '../../../core/model/drift.ts'
import { formatEffectsMarkdown } from '../effects/markdown.ts'
import { groupChanges } from '../plan/blocks.ts'
import { formatChangeParts, formatChangeTable, showWhole } from '../plan/change-parts.ts'
import { formatDriftSummary, listDriftSections } from './text.ts'
import { joinFirstLines, foldText, maxCharacters } from '../text/markdown.ts'

const maxLines = 30

/**
 * Formats drift as Markdown for an issue, like a plan. `now` is in milliseconds since 1970.
 *
 * @param notes notes about what was compared, such as domains that the service did not return
 * @param effects what the differences at the service do to requests
 */
export function formatDriftMarkdown(
  drift: Drift,
  now: number,
  notes: string[] = [],
  effects: Effects | null = null,
): string {
  const noticed = effects === null ? '' : `${formatEffectsMarkdown(effects)}\n`
  const head = `### Edgewise drift\n\n${noticed}${formatDriftSummary(drift, now).join('\n')}\n`
  const all = listDriftSections(drift)
  const foot = [
    formatList('Notes', notes),
    ...all.map((section) => ('lines' in section ? formatList(section.title, section.lines) : '')),
  ].join('')
  const sections = all.flatMap((section) =>
    'lines' in section
      ? []
      : [
          {
            changes: section.changes,
            head: `\n#### ${section.title}\n\n${formatChangeTable(section.changes)}\n`,
          },
        ],
  )
  const used =
    head.length + foot.length + sections.reduce((sum, section) => sum + section.head.length, 0)
  const room = Math.floor((maxCharacters - used) / Math.max(1, sections.length))
  const bodies = sections.map(
    (section) =>
      section.head +
      formatChangeParts(groupChanges(section.changes), room, showWhole('edgewise drift -v')),
  )
  return `${head}${bodies.join('')}${foot}`
}

function formatList(title: string, lines: string[]): string {
  return lines.length === 0 ? '' : `\n${foldText(title, joinFirstLines(lines, maxLines))}`
}
