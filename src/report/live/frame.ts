import {
  chartScript,
  chartStyle,
  liveScript,
  liveStyle,
  script,
  style,
} from '../../generated/page-assets.ts'
import { formatHashes, type PageFrame } from '../page/format-page.ts'
import { escapeHtml } from '../page/static-parts.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatNav, type Place } from './nav.ts'

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%230a53be'/%3E" +
  "%3Cpath d='M4 4h8M4 8h5M4 12h8' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E"

const head = `<link rel="icon" href="${icon}">\n<style>${liveStyle}</style>`
const end = `<script>${liveScript}</script>\n`

/** Policy of all pages of a server: only scripts and styles of this program, no other host. */
export const livePolicy =
  `default-src 'none'; style-src ${formatHashes([style, chartStyle, liveStyle])}; ` +
  `script-src ${formatHashes([chartScript, script, liveScript])}; img-src data:; ` +
  "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Builds what a server adds to the page of a plan or of drift. */
export function buildFrame(place: Place): PageFrame {
  return { head, nav: formatNav(place), end }
}

/** A page of a server, beside those of a plan and of drift. */
export interface LivePage {
  title: string
  /** HTML. */
  main: string
  /** Null for pages without a session: they are not refreshed either. */
  place: Place | null
  /** HTML for the head, and for the end. */
  head?: string
  end?: string
}

/** Formats a page of a server, readable without scripts. */
export function formatLivePage({
  title,
  main,
  place,
  head: own = '',
  end: more = '',
}: LivePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${own}<title>${escapeHtml(escapeInvisible(title.slice(0, 300)))}</title>
<style>${style}</style>
${head}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${place === null ? '' : formatNav(place)}<main id="main" tabindex="-1"${
    place === null ? ' class="door"' : ''
  }>
${main}
</main>
${more}${place === null ? '' : end}</body>
</html>
`
}
