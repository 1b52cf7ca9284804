import { createHash } from 'node:crypto'
import { effectsScript, effectsStyle } from './generated/effects-assets.ts'
import { script, style } from './generated/page-assets.ts'
import { show } from './html.ts'

/** A page in HTML, in a file or of a server. */
export interface Shell {
  title: string
  /** HTML of the content. */
  main: string
  /** HTML of the data that the script draws; empty for none. */
  data?: string
  /** Navigation bar of a server; empty for a page without a session, null for a file. */
  nav: string | null
  /** HTML for the head. */
  head?: string
  /** Whether it has effects on requests, which have a style of their own. */
  hasEffects?: boolean
  /** Whether requests can be tried, for which a file has a script more. */
  hasTrials?: boolean
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
/** Builds a policy that allows exactly these scripts and styles. */
const buildPolicy = (styles: string[], scripts: string[]) =>
  `default-src 'none'; style-src ${styles.map(hash).join(' ')}; ` +
  `script-src ${scripts.map(hash).join(' ')}; base-uri 'none'`
const plainPolicy = buildPolicy([style], [script])
const styledPolicy = buildPolicy([style, effectsStyle], [script])
const wholePolicy = buildPolicy([style, effectsStyle], [script, effectsScript])

/** Policy of the pages of a server: only script and style of this program, and no other host. */
export const serverPolicy =
  `${styledPolicy}; img-src data:; connect-src 'self'; form-action 'self'; ` +
  "frame-ancestors 'none'"

const formatFileHead = (policy: string) =>
  `<meta http-equiv="Content-Security-Policy" content="${policy}; form-action 'none'">\n` +
  '<meta name="referrer" content="no-referrer">'
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%230a53be'/%3E" +
  "%3Cpath d='M4 4h8M4 8h5M4 12h8' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E"

/**
 * Formats a page, readable without scripts. One in a file needs no network and allows none; a
 * server sends the policy itself.
 */
export function formatShell(shell: Shell): string {
  const { title, main, data = '', nav, head = '', hasEffects = false, hasTrials = false } = shell
  const policy = hasTrials ? wholePolicy : hasEffects ? styledPolicy : plainPolicy
  const moreStyle = hasEffects ? `\n<style>${effectsStyle}</style>` : ''
  const moreScript = hasTrials ? `\n<script>${effectsScript}</script>` : ''
  const own = nav === null ? formatFileHead(policy) : `<link rel="icon" href="${icon}">`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${own}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${show(title.slice(0, 300))}</title>
<style>${style}</style>${moreStyle}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${nav ?? ''}<main id="main" tabindex="-1"${nav === '' ? ' class="door"' : ''}>
${main}
</main>
${data}${moreScript}
<script>${script}</script>
</body>
</html>
`
}
