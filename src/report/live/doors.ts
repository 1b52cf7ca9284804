import { escapeHtml } from '../page/static-parts.ts'
import { formatLivePage } from './frame.ts'
import type { Place } from './nav.ts'
import { show } from './rollout.ts'

/** Formats the form that asks for the token. */
export function formatLogin(
  to: string,
  { isWrong, isFollowed }: { isWrong: boolean; isFollowed: boolean },
): string {
  const wrong = isWrong
    ? '<p class="outcome" data-tone="problem" role="alert">The token is wrong.</p>'
    : ''
  const main =
    '<section class="panel"><p class="eyebrow">Edgewise</p><h1>Log in</h1>' +
    `${wrong}<form method="post" action="/login">` +
    `<input type="hidden" name="to" value="${escapeHtml(to)}">` +
    // Programs that keep passwords want a name.
    '<input type="text" value="edgewise" autocomplete="username" hidden>' +
    '<label for="token">Token of the server</label>' +
    '<input id="token" name="token" type="password" autocomplete="current-password" required ' +
    `autofocus spellcheck="false"${isWrong ? ' aria-invalid="true"' : ''}>` +
    '<p class="note">The value of <code>EDGEWISE_SERVE_TOKEN</code>. The session ends after 12 ' +
    'hours.</p><button class="button primary">Log in</button></form></section>'
  // A browser that follows a link of another site sends the cookie only with the next request.
  const head = isFollowed ? `<meta http-equiv="refresh" content="0; url=${escapeHtml(to)}">\n` : ''
  return formatLivePage({ title: 'Edgewise: log in', main, place: null, head })
}

/** Formats a page with a message, such as an error. */
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
  return formatLivePage({ title: `Edgewise: ${title}`, main, place })
}
