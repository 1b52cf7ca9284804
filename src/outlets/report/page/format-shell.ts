import { createHash } from 'node:crypto'
import type { Tone } from '../../../core/model/page/fleet.ts'
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
  /** Address of a file with the style, for a page without a script; absent: both are in it. */
  styleFile?: string
  /** Tone of what it shows, in the icon of its tab; absent: the icon of the program. */
  tone?: Tone
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
/** Builds a policy that allows exactly these scripts and styles. */
const buildPolicy = (styles: string[], scripts: string[]) =>
  `default-src 'none'; style-src ${styles.map(hash).join(' ')}; ` +
  `script-src ${scripts.map(hash).join(' ')}; base-uri 'none'`
const plainPolicy = buildPolicy([style], [script])
const styledPolicy = buildPolicy([style, effectsStyle], [script])
const wholePolicy = buildPolicy([style, effectsStyle], [script, effectsScript])
/** Allows a style beside the file, where no server is too: not all browsers take `self` for it. */
const linkedPolicy = "default-src 'none'; style-src 'self' file:; base-uri 'none'"

/** Policy of the pages of a server: only script and style of this program, and no other host. */
export const serverPolicy =
  `${styledPolicy}; img-src data:; connect-src 'self'; form-action 'self'; ` +
  "frame-ancestors 'none'"

/** Formats the policy of a file. */
const formatPolicy = (policy: string) =>
  `<meta http-equiv="Content-Security-Policy" content="${policy}; form-action 'none'">\n` +
  '<meta name="referrer" content="no-referrer">\n'
const tones: Record<Tone, string> = { problem: 'd4232b', attention: 'f0a800', fine: '1f9d55' }
const lines =
  "%3Crect width='16' height='16' rx='3' fill='%230a53be'/%3E" +
  "%3Cpath d='M4 4h8M4 8h5M4 12h8' stroke='%23fff' stroke-width='2'/%3E"

/** Formats the icon of a tab: a dot in the colour of a tone, or lines of text without one. */
function formatIcon(tone: Tone | undefined): string {
  const dot = `%3Ccircle cx='8' cy='8' r='7' fill='%23${tone === undefined ? '' : tones[tone]}'/%3E`
  return (
    '<link rel="icon" href="data:image/svg+xml,' +
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
    `${tone === undefined ? lines : dot}%3C/svg%3E">`
  )
}

/**
 * Formats a page, readable without scripts. One in a file needs no network and allows none; a
 * server sends the policy itself.
 */
export function formatShell(shell: Shell): string {
  const { title, main, data = '', nav, head = '', tone, styleFile } = shell
  const { hasEffects = false, hasTrials = false } = shell
  const own = hasTrials ? wholePolicy : hasEffects ? styledPolicy : plainPolicy
  const policy = styleFile === undefined ? own : linkedPolicy
  const icon = nav === null && tone === undefined ? '' : formatIcon(tone)
  const images = tone === undefined ? '' : '; img-src data:'
  const moreStyle = hasEffects ? `\n<style>${effectsStyle}</style>` : ''
  const moreScript = hasTrials ? `\n<script>${effectsScript}</script>` : ''
  const scripts = `${data}${moreScript}\n<script>${script}</script>\n`
  const styles =
    styleFile === undefined
      ? `<style>${style}</style>${moreStyle}`
      : `<link rel="stylesheet" href="${show(styleFile)}">`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${nav === null ? formatPolicy(policy + images) : ''}${icon}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${show(title.slice(0, 300))}</title>
${styles}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${nav ?? ''}<main id="main" tabindex="-1"${nav === '' ? ' class="door"' : ''}>
${main}
</main>
${styleFile === undefined ? scripts : ''}</body>
</html>
`
}
