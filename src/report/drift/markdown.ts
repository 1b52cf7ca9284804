import type { Drift } from '../../model/drift.ts'
import { groupChanges } from '../plan/blocks.ts'
import { formatChangeParts, formatChangeTable, showWhole } from '../plan/change-parts.ts'
import { listInDoubt, formatDriftSummary, listOnHold, listNotVerifiable } from './text.ts'
import { ignoredTitle, listIgnored, listUnreadable, unreadableTitle } from './text.ts'
import { joinFirstLines, foldText, maxCharacters } from '../text/markdown.ts'

const maxLines = 30

/**
 * Formats drift as Markdown for an issue, like a plan. `now` is in milliseconds since 1970.
 *
 * @param notes notes about what was compared, such as domains that the service did not return
 */
export function formatDriftMarkdown(drift: Drift, now: number, notes: string[] = []): string {
  const head = `### Edgewise drift\n\n${formatDriftSummary(drift, now).join('\n')}\n`
  const foot = [
    formatList('Notes', notes),
    formatList(unreadableTitle, listUnreadable(drift.items)),
    formatList(
      'On hold: a rollout was stopped or rolled back (apply --retry-held)',
      listOnHold(drift.items),
    ),
    formatList(ignoredTitle, listIgnored(drift.items)),
    formatList('In-doubt: an apply ended with an unknown outcome', listInDoubt(drift.inDoubt)),
    formatList('Not verifiable: assumed to be as recorded', listNotVerifiable(drift.items)),
  ].join('')
  const sections = [
    { title: 'Pending: the manifests differ from state', changes: drift.pending },
    { title: 'Live: the service differs from state', changes: drift.live },
  ]
    .filter(({ changes }) => changes.length > 0)
    .map(({ title, changes }) => ({
      changes,
      head: `\n#### ${title}\n\n${formatChangeTable(changes)}\n`,
    }))
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
