import {
  buildAddress,
  findState,
  fleetStates,
  formatCell,
  listColumns,
  stateLooks,
  summarizeStates,
  type Fleet,
  type FleetRow,
  type Tone,
} from '../../../core/model/page/fleet.ts'
import { formatNoun } from '../../../core/model/page/page-words.ts'
import { formatTable } from '../page/format-table.ts'
import { formatJson, formatSummary, formatTag, show } from '../page/html.ts'
import type { PageAbout } from '../page/page-about.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** What the page of a fleet shows beside its domains. */
export interface FleetAbout
  extends Pick<PageAbout, 'workspace' | 'facts' | 'warnings' | 'redact'>, Pick<Fleet, 'address'> {}

/** Most rows of the table that is read without scripts. */
const maxRows = 300

/** Describes the state of a fleet for the tab of its page: the title, and the tone of the icon. */
export function describeFleetTab(rows: readonly FleetRow[]): { title: string; tone: Tone } {
  const states = rows.map(({ state }) => state)
  const { tone } = stateLooks[findState(states)]
  return { title: `${summarizeStates(states, 'domain')} Edgewise`, tone }
}

/**
 * Formats the list of all domains as the content of a page, the most urgent first. The script lets
 * the reader search it; without scripts a table has the first ones.
 */
export function formatFleetPage(rows: readonly FleetRow[], about: FleetAbout): string {
  const { workspace, facts, warnings, redact, address } = about
  const put = (text: string) => show(redact(text))
  const rank = (row: FleetRow) => fleetStates.indexOf(row.state)
  const sorted = rows.toSorted((a, b) => rank(a) - rank(b) || (a.domain < b.domain ? -1 : 1))
  const shown = sorted.map((row) => ({ ...row, domain: escapeInvisible(row.domain) }))
  const states = rows.map(({ state }) => state)
  const fleet: Fleet = { address, rows: shown }
  const summary = formatSummary(
    redact(`Edgewise domains: ${workspace}`),
    summarizeStates(states, 'domain'),
    facts.map(([label, value]) => [label, put(value)]),
    describeFleetTab(rows).tone,
  )
  return `${summary}
${warnings.map((warning) => `<p class="callout warnings">${put(warning)}</p>`).join('')}
<div id="fleet">${formatRows(fleet, redact)}</div>
${formatJson('domains', fleet)}`
}

function formatRows(fleet: Fleet, redact: FleetAbout['redact']): string {
  const { rows } = fleet
  const columns = listColumns(rows)
  const table = formatTable(
    {
      caption:
        rows.length > maxRows
          ? `The first ${maxRows} of ${formatNoun(rows.length, 'domain')}`
          : 'Domains',
      columns: ['Domain', 'State', ...columns.map(([, title]) => title)],
      rows: rows.slice(0, maxRows).map((row) => {
        const { words, tone } = stateLooks[row.state]
        return [
          { html: `<a href="${show(buildAddress(fleet, row))}">${show(row.domain)}</a>` },
          { html: formatTag(tone, words) },
          ...columns.map((column) => formatCell(row, column)),
        ]
      }),
    },
    redact,
  )
  return `<p class="callout warnings">This browser runs no scripts: it has no search.</p>${table}`
}
