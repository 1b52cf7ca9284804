import { formatDuration, formatNoun, formatCount } from '../../../core/model/page/page-words.ts'
import { packPage } from '../../../core/model/page/packed-page.ts'
import {
  type Page,
  noticeKinds,
  type PageHead,
  type PageNotice,
} from '../../../core/model/page/page.ts'
import { fitPage } from './fit-page.ts'
import { formatEffects } from './format-effects.ts'
import { formatRollout } from './format-rollout.ts'
import {
  formatJson,
  formatLog,
  formatList,
  formatNames,
  formatSummary,
  listNames,
  show,
} from './html.ts'
import { formatChanges, formatHistoryTable } from './static-lists.ts'
import { findMax, groupBy } from '../../../core/model/lists.ts'
import { formatShell, type Shell } from './format-shell.ts'

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
  const isServed = nav !== null
  const { waves, rollback = null, applies, acts = [] } = page
  const log = isServed ? acts : acts.map((act) => ({ ...act, href: undefined }))
  const shown = { summary: formatPace(page), hasFilters: page.changes.length > 0 }
  const list =
    applies === undefined
      ? formatChanges(page, isServed)
      : formatHistoryTable(applies, isServed ? page.domains : null)
  const content = `${formatEffects(page)}${formatRollout({ about: null, waves, rollback }, shown)}
<div id="view">${list}</div>
${formatLog('Decisions and others', log)}`
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
  const whole = findMax(ends, 0)
  return (
    `${formatNoun(writes.length, 'write')} at ${callsPerMinute} calls a minute` +
    (whole > 0 ? `: at least ${formatDuration(whole)}` : '')
  )
}

/** Domains of an entry that are visible before the rest is opened, and that are named at all. */
const [visibleNames, maxNames] = [4, 300]

/** Notices that are visible before the rest is opened. */
const maxNotices = 8

/**
 * Formats the report of a command as a page: its head, which `beginPage` has made, and its content,
 * such as a table of `formatTable`.
 *
 * @param content HTML
 */
export function formatReport(
  { title, sentence, facts, warnings, notices }: PageHead,
  content: string,
  shell: Omit<Shell, 'title' | 'main'> = { nav: null },
): string {
  const listed = formatWarnings(warnings) + formatUnsent(notices, shell.nav !== null)
  const shown = facts.map(([label, value]): [string, string] => [label, show(value)])
  const main = `${formatSummary(title, sentence, shown)}
${listed === '' ? '' : `<div class="notices">${listed}</div>`}
${content}`
  return formatShell({ title: `${title}: ${sentence}`, main, ...shell })
}

/** Formats a text as the report of a command. */
export function formatTextPage(head: PageHead, text: string): string {
  const lines = `<pre class="lines" tabindex="0">${showLines(text.trimEnd())}</pre>`
  return formatReport(head, `<section class="panel">${lines}</section>`)
}

function formatWarnings(warnings: string[]): string {
  if (warnings.length === 0) return ''
  return (
    '<section class="callout notice warnings" data-warnings aria-labelledby="warnings">' +
    `<h2 id="warnings">${formatNoun(warnings.length, 'warning')}</h2>` +
    `${formatNotices(warnings.map((warning) => `<li>${showLines(warning)}</li>`))}</section>`
  )
}

/** Formats what is not sent; a long list is folded by the reason. */
function formatUnsent(notices: PageNotice[], isServed: boolean): string {
  if (notices.length === 0) return ''
  const format = ({ kind, text, domains }: PageNotice) =>
    `<li data-kind="${kind}"><span class="kind">${noticeKinds[kind]}:</span> ` +
    `${showLines(text)}${formatDomains(domains, isServed)}</li>`
  const lists =
    notices.length <= maxNotices
      ? [formatNotices(notices.map(format))]
      : Array.from(
          groupBy(notices, ({ kind }) => kind),
          ([kind, same]) =>
            formatNotices(same.map(format), 2, `more: ${noticeKinds[kind].toLowerCase()}`),
        )
  return (
    '<section class="panel notice" data-unsent aria-labelledby="unsent">' +
    `<h2 id="unsent">What will not happen</h2>${lists.join('')}</section>`
  )
}

function formatNotices(entries: string[], visible = maxNotices - 2, others = 'more'): string {
  return formatList(entries, { visible, max: 500, others })
}

/** Shows a text whose line ends stay. */
function showLines(text: string): string {
  return text.split('\n').map(show).join('\n')
}

function formatDomains(domains: string[], isServed: boolean): string {
  if (domains.length === 0) return ''
  if (domains.length <= visibleNames + 2) return listNames(domains, visibleNames + 2, isServed)
  const rest = domains.slice(visibleNames)
  const others = `${formatCount(rest.length)} more domains`
  return (
    listNames(domains.slice(0, visibleNames), visibleNames, isServed) +
    formatNames(others, rest, maxNames - visibleNames, isServed)
  )
}
