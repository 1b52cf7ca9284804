import { createHash } from 'node:crypto'
import { script, style } from '../../generated/page-assets.ts'
import type { Page } from '../../model/page.ts'
import { fitPage } from './fit-page.ts'
import { packPage } from './pack-page.ts'
import { formatChanges } from './static-changes.ts'
import { escapeHtml, formatApart, formatSummary, formatWarnings } from './static-parts.ts'

/**
 * Formats a page as one HTML file, which needs no network and allows none. Every text of the page
 * may be hostile: it is escaped, and only the script and the style of this program run.
 */
export function formatPage(page: Page): string {
  const fitted = fitPage(page)
  const { title, sentence, warnings, apart } = fitted
  const notices = formatWarnings(warnings) + formatApart(apart)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${formatPolicy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(`${title}: ${sentence}`.slice(0, 300))}</title>
<style>${style}</style>
</head>
<body>
<a class="skip" href="#view">Skip to the changes</a>
<main>
<header class="summary">
${formatSummary(fitted)}
</header>
${notices === '' ? '' : `<div class="notices">${notices}</div>`}
<div id="view">${formatChanges(fitted)}</div>
</main>
<script type="application/json" id="data">${formatData(fitted)}</script>
<script>${script}</script>
</body>
</html>
`
}

/** Formats what the script draws; the rest of the page is in its HTML. */
function formatData(page: Page): string {
  const drawn = packPage({ ...page, facts: [], apart: [], warnings: [] })
  return JSON.stringify(drawn).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function formatPolicy(): string {
  return (
    `default-src 'none'; style-src ${formatHash(style)}; script-src ${formatHash(script)}; ` +
    "base-uri 'none'; form-action 'none'"
  )
}

function formatHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
