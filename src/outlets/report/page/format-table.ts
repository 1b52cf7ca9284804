import { formatCount } from '../../../core/model/text/words.ts'
import { fitText } from './fit-page.ts'
import { show } from './html.ts'

/** A table that is read without scripts. Its texts may come from anybody. */
export interface Table {
  caption: string
  columns: string[]
  /** Cells: a text, which is redacted, cut and escaped here, or HTML. */
  rows: (string | { html: string })[][]
  /** Remark below it; empty for none. */
  note?: string
}

/** Characters of all cells; those of a cell beside its text. */
const [maxTotal, tags] = [1_000_000, 10]

/**
 * Formats a table. Rows that do not fit into a file that a browser opens at once are counted.
 *
 * @param redact replaces the secrets in a text
 */
export function formatTable(
  { caption, columns, rows, note = '' }: Table,
  redact: (text: string) => string,
): string {
  const put = (text: string) => show(redact(text))
  let room = maxTotal
  const shown: string[] = []
  for (const row of rows) {
    const cells = row.map((cell) =>
      typeof cell === 'string' ? show(fitText(redact(cell))) : cell.html,
    )
    room -= cells.reduce((sum, cell) => sum + cell.length + tags, 0)
    if (room < 0) break
    shown.push(`<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  }
  const left = rows.length - shown.length
  const notes = [
    ...(left === 0 ? [] : [`${formatCount(left)} more: this file would be too large with them.`]),
    ...(note === '' ? [] : [note]),
  ]
  const heads = columns.map((column) => `<th scope="col">${put(column)}</th>`)
  const title = put(caption)
  return (
    `<div class="panel static" tabindex="0" role="region" aria-label="${title}">` +
    `<table><caption>${title}</caption><thead><tr>` +
    `${heads.join('')}</tr></thead><tbody>${shown.join('')}</tbody></table>` +
    `${notes.map((text) => `<p>${put(text)}</p>`).join('')}</div>`
  )
}
