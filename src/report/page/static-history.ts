import type { PageApply } from '../../model/page-history.ts'
import { formatTime } from '../../model/format-time.ts'
import { escapeHtml } from './static-parts.ts'

/** Most rows of the table. */
const maxRows = 300

/** Formats the latest applies as a table, which is read without scripts; empty for none. */
export function formatHistoryTable(applies: PageApply[]): string {
  if (applies.length === 0) return ''
  const rows = applies.slice(0, maxRows).map((apply) => {
    const { id, outcome, startedAt, took, author, tree, writes, parts } = apply
    const cells = [id, formatTime(startedAt), took, author ?? '', tree ?? '']
    return (
      `<tr><td data-outcome="${escapeHtml(outcome)}"><b>${escapeHtml(outcome)}</b></td>` +
      `${[...cells, writes, parts].map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`
    )
  })
  const heads = ['Outcome', 'Apply', 'Started', 'Took', 'Author', 'Manifests', 'Writes', 'Items']
  const left = applies.length - maxRows
  const rest = left > 0 ? `<p>${left} earlier ones: "edgewise state history" lists them.</p>` : ''
  return (
    `<div class="panel static"><table><caption>Applies</caption><thead><tr>` +
    `${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>` +
    `<tbody>${rows.join('')}</tbody></table>${rest}</div>`
  )
}
