import { formatShell } from '../page/format-shell.ts'
import { formatInstant, show } from '../page/html.ts'

/** Current page, and the time of its data. */
export interface Place {
  path: '/' | '/domains' | '/plan' | '/drift' | '/rollouts' | '/history'
  /** Key of what is shown in the answer of `/live`, and its revision. */
  watches: 'overview' | 'plan' | 'drift'
  revision: string
  commit: string | null
  /** Time of the view, ISO 8601. */
  at: string
  /** Name of the reader; absent for who has only the token. */
  who?: string
}

const links: [path: Place['path'], label: string][] = [
  ['/', 'Overview'],
  ['/domains', 'Domains'],
  ['/plan', 'Plan'],
  ['/drift', 'Drift'],
  ['/rollouts', 'Rollouts'],
  ['/history', 'History'],
]

/** Formats the navigation bar, and the notice that the script may show. */
export function formatNav({ path, watches, revision, commit, at, who }: Place): string {
  const list = links.map(([href, label]) => {
    const current = href === path ? ' aria-current="page"' : ''
    return `<li><a href="${href}"${current}>${label}</a></li>`
  })
  const tip = commit === null ? '' : `<span>commit <code>${show(shorten(commit))}</code></span>`
  return (
    `<nav class="live" aria-label="Edgewise" data-live="${watches}" ` +
    `data-revision="${show(revision)}"><ul>${list.join('')}</ul>` +
    `<p class="view">${tip}<span>as of ${formatInstant(at)}</span>` +
    `${who === undefined ? '' : `<span data-who>${show(who)}</span>`}</p>` +
    '<form method="post" action="/logout"><button class="close">Log out</button></form></nav>\n' +
    '<p class="news" data-news role="status"></p>\n'
  )
}

/** Shortens a commit as people read it. */
export function shorten(commit: string): string {
  return commit.slice(0, 12)
}

/** Formats the page after a login at a provider, which leads to another page by itself. */
export function formatReturn(to: string, who: string): string {
  const main =
    `<section class="panel"><p class="eyebrow">Edgewise</p><h1>Logged in as ${show(who)}</h1>` +
    `<p><a class="button primary" href="${show(to)}">Continue</a></p></section>`
  const head = `<meta http-equiv="refresh" content="0; url=${show(to)}">\n`
  return formatShell({ title: 'Edgewise: logged in', main, nav: '', head })
}

/** Formats the page after a logout, for who may still be logged in at the provider. */
export function formatLoggedOut(place: string): string {
  const main =
    '<section class="panel"><p class="eyebrow">Edgewise</p><h1>Logged out</h1>' +
    '<p class="message">You may still be logged in at the provider: then the next login needs no ' +
    'password.</p>' +
    `<p><a class="button primary" href="${show(place)}">Log out of the provider</a> ` +
    '<a class="button secondary" href="/">Log in again</a></p></section>'
  return formatShell({ title: 'Edgewise: logged out', main, nav: '' })
}

/** What the page of the login shows beside its form. */
interface LoginState {
  isWrong: boolean
  /** Whether the browser follows a link of another site. */
  isFollowed: boolean
  /** Whether people can log in at a provider, or could if it answered; default: none is known. */
  provider?: 'known' | 'away' | null
}

const providerNotes = {
  known: '',
  away:
    '<p class="callout outcome" data-tone="problem" role="alert">The provider of the login can ' +
    'not be reached. The token of the server still lets you in.</p>',
}

/** Formats the form that asks for the token, after the login at a provider if there is one. */
export function formatLogin(
  to: string,
  { isWrong, isFollowed, provider = null }: LoginState,
): string {
  const wrong = isWrong
    ? '<p class="callout outcome" data-tone="problem" role="alert">The token is wrong.</p>'
    : ''
  const main =
    '<section class="panel"><p class="eyebrow">Edgewise</p><h1>Log in</h1>' +
    (provider === null
      ? ''
      : `${providerNotes[provider]}<p><a class="button primary" ` +
        `href="/login/provider?to=${encodeURIComponent(to)}">Log in with your account</a></p>`) +
    `${wrong}<form method="post" action="/login">` +
    `<input type="hidden" name="to" value="${show(to)}">` +
    // Programs that keep passwords want a name.
    '<input type="text" value="edgewise" autocomplete="username" hidden>' +
    '<label for="token">Token of the server</label>' +
    '<input id="token" name="token" type="password" autocomplete="current-password" required ' +
    `autofocus spellcheck="false"${isWrong ? ' aria-invalid="true"' : ''}>` +
    '<p class="note">The value of <code>EDGEWISE_SERVE_TOKEN</code>. The session ends after 12 ' +
    'hours.</p><button class="button primary">Log in</button></form></section>'
  // A browser that follows a link of another site sends the cookie only with the next request.
  const head = isFollowed ? `<meta http-equiv="refresh" content="0; url=${show(to)}">\n` : ''
  return formatShell({ title: 'Edgewise: log in', main, nav: '', head })
}

/** Formats the page for somebody who may not see anything. */
export function formatStranger(reason: string): string {
  const main =
    `<section class="panel"><p class="eyebrow">Edgewise</p><h1>Not allowed</h1>` +
    `<p class="message">${show(reason)}</p><form method="post" action="/logout">` +
    '<button class="button secondary">Log out</button></form></section>'
  return formatShell({ title: 'Edgewise: not allowed', main, nav: '' })
}

/** Formats a page with a message, such as an error. `place`: null for a page without a session. */
export function formatMessage(
  title: string,
  message: string,
  hint: string,
  place: Place | null = null,
): string {
  const note = hint === '' ? '' : `<p class="note">${show(hint)}</p>`
  const main =
    `<section class="panel"><p class="eyebrow">Edgewise</p><h1>${show(title)}</h1>` +
    `<p class="message">${show(message)}</p>` +
    note +
    '<p><a class="button secondary" href="/">To the overview</a></p></section>'
  return formatShell({
    title: `Edgewise: ${title}`,
    main,
    nav: place === null ? '' : formatNav(place),
  })
}
