import type { Drift } from '../../model/drift.ts'
import { formatChangeParts, formatChangeTable } from '../plan/change-parts.ts'
import { listInDoubt, formatDriftSummary, listOnHold, listNotVerified } from './text.ts'
import { listUnreadable, unreadableTitle } from './text.ts'
import { joinFirstLines, foldText, maxCharacters } from '../text/markdown.ts'

const mostLines = 30

/** Drift as Markdown for an issue, made as that of a plan. `now` is in milliseconds since 1970. */
export function formatDriftMarkdown(drift: Drift, now: number): string {
  const head = `### Edgewise drift\n\n${formatDriftSummary(drift, now).join('\n')}\n`
  const foot = [
    listPart(unreadableTitle, listUnreadable(drift.items)),
    listPart(
      'Held: a rollout with this was stopped or taken back (apply --retry-held)',
      listOnHold(drift.items),
    ),
    listPart('In doubt: an apply ended without a certain outcome', listInDoubt(drift.inDoubt)),
    listPart('Not verifiable: counts as recorded', listNotVerified(drift.items)),
  ].join('')
  const sections = [
    { title: 'Pending: the manifests say otherwise than what was applied', changes: drift.pending },
    { title: 'Live: the service holds otherwise than what was applied', changes: drift.live },
  ]
    .filter(({ changes }) => changes.length > 0)
    .map(({ title, changes }) => ({
      changes,
      head: `\n#### ${title}\n\n${formatChangeTable(changes)}\n`,
    }))
  const taken =
    head.length + foot.length + sections.reduce((sum, section) => sum + section.head.length, 0)
  const room = Math.floor((maxCharacters - taken) / Math.max(1, sections.length))
  return `${head}${sections.map((section) => section.head + formatChangeParts(section.changes, room, '`edgewise drift`')).join('')}${foot}`
}

function listPart(title: string, lines: string[]): string {
  return lines.length === 0 ? '' : `\n${foldText(title, joinFirstLines(lines, mostLines))}`
}
