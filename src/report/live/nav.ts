import { escapeInvisible } from '../text/escape-invisible.ts'
import { escapeHtml } from '../page/static-parts.ts'

/** Where a reader is, and as of when. */
export interface Place {
  path: '/' | '/plan' | '/drift' | '/rollouts' | '/history'
  /** Key of what is shown in the answer of `/live`, and its revision. */
  watches: 'overview' | 'plan' | 'drift'
  revision: string
  commit: string | null
  /** Time of the view, ISO 8601. */
  at: string
}

const links: [path: Place['path'], label: string][] = [
  ['/', 'Overview'],
  ['/plan', 'Plan'],
  ['/drift', 'Drift'],
  ['/rollouts', 'Rollouts'],
  ['/history', 'History'],
]

/** Formats the navigation bar, and the notice that the script may show. */
export function formatNav({ path, watches, revision, commit, at }: Place): string {
  const list = links.map(([href, label]) => {
    const current = href === path ? ' aria-current="page"' : ''
    return `<li><a href="${href}"${current}>${label}</a></li>`
  })
  const tip =
    commit === null
      ? ''
      : `<span>commit <code>${escapeHtml(escapeInvisible(commit).slice(0, 12))}</code></span>`
  return (
    `<nav class="live" aria-label="Edgewise" data-live="${watches}" ` +
    `data-revision="${escapeHtml(revision)}"><ul>${list.join('')}</ul>` +
    `<p class="view">${tip}<span>as of ${formatInstant(at)}</span></p>` +
    '<form method="post" action="/logout"><button class="close">Log out</button></form></nav>\n' +
    '<p class="news" data-news role="status"></p>\n'
  )
}

/** Formats an instant (ISO 8601); the script appends its age. */
export function formatInstant(iso: string): string {
  const text = escapeHtml(escapeInvisible(iso.replace(/\.\d+Z$/, 'Z')))
  const readable = text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z$/, '$1 $2 UTC')
  return `<time datetime="${text}" data-age>${readable}</time>`
}
