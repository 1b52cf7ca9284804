import { formatDuration, formatNoun } from '../../../core/model/page/page-words.ts'
import { packPage } from '../../../core/model/page/packed-page.ts'
import type { Page } from '../../../core/model/page/page.ts'
import { fitPage } from './fit-page.ts'
import { formatEffects } from './format-effects.ts'
import { formatRollout } from './format-rollout.ts'
import { formatReport } from './format-report.ts'
import { formatJson, formatLog } from './html.ts'
import { formatChanges, formatHistoryTable } from './static-lists.ts'

/**
 * Formats a page as one HTML file, which needs no network and allows none. Every text of the page
 * may be hostile: it is escaped, and only the script and the style of this program run.
 *
 * @param nav navigation bar of a server, which then has to send the policy
 */
export function formatPage(whole: Page, nav: string | null = null): string {
  // The policy of a server does not allow the script that tries requests.
  const hasTrials = nav === null && whole.sides !== undefined
  const page = { ...fitPage(whole), sides: hasTrials ? whole.sides : undefined }
  const { waves, rollback = null, applies, acts = [] } = page
  const shown = { summary: formatPace(page), hasFilters: page.changes.length > 0 }
  const list = applies === undefined ? formatChanges(page) : formatHistoryTable(applies)
  const content = `${formatEffects(page)}${formatRollout({ about: null, waves, rollback }, shown)}
<div id="view">${list}</div>
${formatLog('Decisions and others', acts)}`
  const data = formatJson('data', packPage(page))
  return formatReport(page, content, {
    data,
    nav,
    hasEffects: page.effects !== undefined,
    hasTrials,
  })
}

/** Stands in a page where a server has its navigation bar; texts have no such mark. */
export const navPlace = '<!-- nav -->'

/** Sets the navigation bar of a server into a page with its place. */
export function formatServed(page: string, nav: string): string {
  return page.replace(navPlace, () => nav)
}

/** Formats the number of writes, and how long they take at least; empty for none. */
function formatPace({ writes, waves, callsPerMinute }: Page): string {
  if (writes.length === 0) return ''
  const ends = waves.flatMap(({ times }) => (times === null ? [] : times.to + times.waitSeconds))
  const whole = ends.reduce((last, end) => Math.max(last, end), 0)
  return (
    `${formatNoun(writes.length, 'write')} at ${callsPerMinute} calls a minute` +
    (whole > 0 ? `: at least ${formatDuration(whole)}` : '')
  )
}
