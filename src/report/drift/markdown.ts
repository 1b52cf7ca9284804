import type { Drift } from '../../model/drift.ts'
import { changeParts, changeTable } from '../plan/change-parts.ts'
import { doubtLines, driftSum, heldLines, notVerifiedLines } from './text.ts'
import { unreadableLines, unreadableTitle } from './text.ts'
import { firstLines, folded, mostCharacters } from '../text/markdown.ts'

const mostLines = 30

/** Drift as Markdown for an issue, made as that of a plan. `now` is in milliseconds since 1970. */
export function driftMarkdown(drift: Drift, now: number): string {
  const head = `### Edgewise drift\n\n${driftSum(drift, now).join('\n')}\n`
  const foot = [
    listPart(unreadableTitle, unreadableLines(drift.items)),
    listPart(
      'Held: a rollout with this was stopped or taken back (apply --retry-held)',
      heldLines(drift.items),
    ),
    listPart('In doubt: an apply ended without a certain outcome', doubtLines(drift.inDoubt)),
    listPart('Not verifiable: counts as recorded', notVerifiedLines(drift.items)),
  ].join('')
  const sections = [
    { title: 'Pending: the manifests say otherwise than what was applied', changes: drift.pending },
    { title: 'Live: the service holds otherwise than what was applied', changes: drift.live },
  ]
    .filter(({ changes }) => changes.length > 0)
    .map(({ title, changes }) => ({
      changes,
      head: `\n#### ${title}\n\n${changeTable(changes)}\n`,
    }))
  const taken =
    head.length + foot.length + sections.reduce((sum, section) => sum + section.head.length, 0)
  const room = Math.floor((mostCharacters - taken) / Math.max(1, sections.length))
  return `${head}${sections.map((section) => section.head + changeParts(section.changes, room, '`edgewise drift`')).join('')}${foot}`
}

function listPart(title: string, lines: string[]): string {
  return lines.length === 0 ? '' : `\n${folded(title, firstLines(lines, mostLines))}`
}
