import { formatCount, formatDuration, formatNoun } from '../../../core/model/page/page-words.ts'
import { packPage, unpackPage, type PackedPage } from '../../../core/model/page/packed-page.ts'
import type { Page, PageNotice } from '../../../core/model/page/page.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { fitPage } from './fit-page.ts'
import { formatEffects } from './format-effects.ts'
import { formatRollout } from './format-rollout.ts'
import { formatShell } from './format-shell.ts'
import { formatFacts, formatJson, formatList, formatNames, listNames, show } from './html.ts'
import { formatChanges, formatHistoryTable } from './static-lists.ts'

/** Domains of an entry that are visible before the rest is opened, and that are named at all. */
const [visibleNames, maxNames] = [4, 300]

/** Notices that are visible before the rest is opened. */
const maxNotices = 8

const kinds: Record<PageNotice['kind'], string> = {
  released: 'Released',
  cleared: 'Cleared by another write',
  'on-hold': 'On hold',
  unmanaged: 'Not managed',
  'no-way-back': 'No rollback',
  conditional: 'Only if it differs',
  ignored: 'Ignored drift',
}

/**
 * Formats a page as one HTML file, which needs no network and allows none. Every text of the page
 * may be hostile: it is escaped, and only the script and the style of this program run.
 *
 * @param nav navigation bar of a server, which then has to send the policy
 */
export function formatPage(page: Page, nav: string | null = null): string {
  return formatFitted(fitPage(page), nav)
}

/**
 * Formats the page of a plan or a history for a server, from the data in the file of `formatPage`.
 */
export function formatServed(file: string, nav: string): string {
  return formatFitted(parsePage(file), nav)
}

/** Parses the data in the file of `formatPage`; the health of waves is not in it. */
export function parsePage(file: string): Page {
  const start = '<script type="application/json" id="data">'
  const from = file.indexOf(start) + start.length
  // No text of the data has a tag.
  return unpackPage(JSON.parse(file.slice(from, file.indexOf('</script>', from))) as PackedPage)
}

function formatFitted({ sides, ...shared }: Page, nav: string | null): string {
  // The policy of a server does not allow the script that tries requests.
  const hasTrials = nav === null && sides !== undefined
  const page: Page = hasTrials ? { ...shared, sides } : shared
  const { title, sentence, facts, warnings, notices, waves, rollback = null, applies } = page
  const listed = formatWarnings(warnings) + formatUnsent(notices)
  const shown = { summary: formatPace(page), hasFilters: page.changes.length > 0 }
  const main = `<header class="summary">
<p class="eyebrow">${show(title)}</p>
<h1 data-sentence>${show(sentence)}</h1>
${formatFacts(facts.map(([label, value]) => [label, show(value)]))}
</header>
${listed === '' ? '' : `<div class="notices">${listed}</div>`}
${formatEffects(page)}${formatRollout({ about: null, waves, rollback }, shown)}
<div id="view">${applies === undefined ? formatChanges(page) : formatHistoryTable(applies)}</div>`
  return formatShell({
    title: `${title}: ${sentence}`,
    main,
    data: formatJson('data', packPage(page)),
    nav,
    hasEffects: page.effects !== undefined,
    hasTrials,
  })
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

function formatWarnings(warnings: string[]): string {
  if (warnings.length === 0) return ''
  return (
    '<section class="callout notice warnings" data-warnings aria-labelledby="warnings">' +
    `<h2 id="warnings">${formatNoun(warnings.length, 'warning')}</h2>` +
    `${formatNotices(warnings.map((warning) => `<li>${showLines(warning)}</li>`))}</section>`
  )
}

/** Formats what is not sent; a long list is folded by the reason. */
function formatUnsent(notices: PageNotice[]): string {
  if (notices.length === 0) return ''
  const format = ({ kind, text, domains }: PageNotice) =>
    `<li data-kind="${kind}"><span class="kind">${kinds[kind]}:</span> ` +
    `${showLines(text)}${formatDomains(domains)}</li>`
  const lists =
    notices.length <= maxNotices
      ? [formatNotices(notices.map(format))]
      : Array.from(
          groupBy(notices, ({ kind }) => kind),
          ([kind, same]) =>
            formatNotices(same.map(format), 2, `more: ${kinds[kind].toLowerCase()}`),
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

function formatDomains(domains: string[]): string {
  if (domains.length === 0) return ''
  if (domains.length <= visibleNames + 2) return listNames(domains, visibleNames + 2)
  const rest = domains.slice(visibleNames)
  const others = `${formatCount(rest.length)} more domains`
  return (
    listNames(domains.slice(0, visibleNames), visibleNames) +
    formatNames(others, rest, maxNames - visibleNames)
  )
}
