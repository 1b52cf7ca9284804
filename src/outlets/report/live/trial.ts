import { show } from '../page/html.ts'

/** A request that a reader tries, and what came of it. */
export interface Trial {
  url: string
  /** Address of the client; empty: not given. */
  ip: string
  /** What each configuration does to it: a line of sentences, then all; null for none. */
  traced: Record<'recorded' | 'desired', string> | null
  /** Why it could not be traced; empty for no reason. */
  fault: string
}

/** Formats the form that tries a request on the page of a domain, and its answers. */
export function formatTrial(path: string, { url, ip, traced, fault }: Trial): string {
  const panel = (title: string, text: string) => {
    // A line end would be shown as an invisible character.
    const [sentence = '', ...lines] = text.trimEnd().split('\n').map(show)
    return (
      `<div><h3>${title}</h3><p class="said">${sentence}</p>` +
      `<pre class="lines" tabindex="0">${lines.join('\n')}</pre></div>`
    )
  }
  const answers =
    traced === null
      ? ''
      : panel('Now, as recorded', traced.recorded) +
        (pickAnswers(traced.recorded) === pickAnswers(traced.desired)
          ? '<p class="note">An apply of the manifests changes nothing of it.</p>'
          : panel('After an apply of the manifests', traced.desired))
  return (
    '<section class="panel" id="trial"><h2>Try a request</h2>' +
    `<form class="trial" method="get" action="${show(path)}#trial">` +
    '<label for="url">URL of a GET request</label>' +
    `<input id="url" name="url" value="${show(url)}" maxlength="2000" spellcheck="false">` +
    '<label for="ip">Client address, if it matters</label>' +
    `<input id="ip" name="ip" value="${show(ip)}" maxlength="45" spellcheck="false">` +
    '<button class="button secondary">Trace</button></form>' +
    '<p class="note">What drift has changed at the service is not in the answer.</p>' +
    (fault === '' ? '' : `<p class="callout outcome" data-tone="problem">${show(fault)}</p>`) +
    (answers === '' ? '' : `<div class="sides">${answers}</div>`) +
    '</section>'
  )
}

/** Picks what happens to the request: neither places in files, nor what was assumed. */
function pickAnswers(text: string): string {
  return text
    .replace(/\n(?:Note|Assumed) .*/s, '')
    .split(/\s+/)
    .map((word) => word.replace(/^\(?[\w./-]+\.ya?ml:\d+\)?/, ''))
    .filter((word) => word !== '')
    .join(' ')
    .replaceAll(/ (?=[.,])/g, '')
}
