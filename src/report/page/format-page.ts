import { createHash } from 'node:crypto'
import { chartScript, chartStyle, script, style } from '../../generated/page-assets.ts'
import type { PackedPage } from '../../model/packed-page.ts'
import type { Page } from '../../model/page.ts'
import { fitPage } from './fit-page.ts'
import { listCurves } from './format-charts.ts'
import { formatJson } from './format-json.ts'
import { packPage } from './pack-page.ts'
import { formatChanges } from './static-changes.ts'
import { formatHistoryTable } from './static-history.ts'
import { escapeHtml, formatApart, formatSummary, formatWarnings } from './static-parts.ts'
import { fitRollout, formatRollout } from './static-rollout.ts'

/** What a server adds to a page: HTML for its head, before its content and at its end. */
export interface PageFrame {
  head: string
  nav: string
  end: string
}

/**
 * Formats a page as one HTML file, which needs no network and allows none. Every text of the page
 * may be hostile: it is escaped, and only the script and the style of this program run.
 *
 * @param frame of a server, which then has to send the policy
 */
export function formatPage(page: Page, frame?: PageFrame): string {
  const fitted = fitPage(page)
  const { title, sentence, warnings, apart, applies = [] } = fitted
  const plain = page.applies === undefined ? formatChanges(fitted) : formatHistoryTable(applies)
  const notices = formatWarnings(warnings) + formatApart(apart)
  const rollout = page.rollout === undefined ? null : fitRollout(page.rollout)
  const curves = rollout === null ? [] : listCurves(rollout)
  // A page without them is half as large.
  const styles = [style, ...(rollout === null ? [] : [chartStyle])]
  const scripts = [...(curves.length === 0 ? [] : [chartScript]), script]
  const { head, nav, end } = frame ?? { head: formatOwnHead(styles, scripts), nav: '', end: '' }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(`${title}: ${sentence}`.slice(0, 300))}</title>
${styles.map((text) => `<style>${text}</style>`).join('\n')}
</head>
<body>
<a class="skip" href="#view">Skip to the changes</a>
${nav}<main>
<header class="summary">
${formatSummary(fitted)}
</header>
${notices === '' ? '' : `<div class="notices">${notices}</div>`}
${rollout === null ? '' : formatRollout(rollout)}
<div id="view">${plain}</div>
</main>
${formatJson('data', packDrawn(fitted))}
${curves.length === 0 ? '' : formatJson('curves', curves)}
${scripts.map((text) => `<script>${text}</script>`).join('\n')}
${end}</body>
</html>
`
}

/** Head of a page in a file; none of its text can be in a text of the page. */
const ownHead =
  /<meta http-equiv="Content-Security-Policy" content="[^"]*">\n<meta name="referrer" [^>]*>/

/**
 * Adds a frame to the HTML of a page in a file, which `formatPage` of this version has formatted.
 * None of the places can be found in a text of the page: those are escaped.
 */
export function frameHtml(html: string, frame: PageFrame): string {
  return html
    .replace(ownHead, () => frame.head)
    .replace('<main>', () => `${frame.nav}<main>`)
    .replace(/<\/body>\n<\/html>\n$/, () => `${frame.end}</body>\n</html>\n`)
}

/** Packs what the script draws; the rest of the page is in its HTML. */
function packDrawn({ rollout: _rollout, ...page }: Page): PackedPage {
  return packPage({ ...page, facts: [], apart: [], warnings: [] })
}

/** Formats the head of a page in a file. A server sends its own policy. */
function formatOwnHead(styles: string[], scripts: string[]): string {
  return (
    `<meta http-equiv="Content-Security-Policy" content="${formatPolicy(styles, scripts)}">\n` +
    '<meta name="referrer" content="no-referrer">'
  )
}

function formatPolicy(styles: string[], scripts: string[]): string {
  return (
    `default-src 'none'; style-src ${formatHashes(styles)}; ` +
    `script-src ${formatHashes(scripts)}; base-uri 'none'; form-action 'none'`
  )
}

/** Formats the hashes of scripts or styles for a policy. */
export function formatHashes(texts: string[]): string {
  const hash = (text: string) => createHash('sha256').update(text).digest('base64')
  return texts.map((text) => `'sha256-${hash(text)}'`).join(' ')
}
