import type { Overview } from '../../model/overview.ts'
import { pluralize } from '../../model/words.ts'
import { formatLivePage } from './frame.ts'
import { listHeadlines, shorten } from './headline.ts'
import { formatInstant, type Place } from './nav.ts'
import { formatRollout, show, type FormToken } from './rollout.ts'

/** Sentences beside the first one. */
const maxOthers = 20

/** A result of a decision, to be shown once. */
export interface Notice {
  tone: 'fine' | 'problem'
  text: string
}

/** Formats the overview: the most important sentence first, then facts and rollouts. */
export function formatOverview(
  overview: Overview,
  place: Place,
  token: FormToken,
  notice: Notice | null,
): string {
  const [first, ...others] = listHeadlines(overview)
  const title = `Edgewise: ${overview.workspace}`
  const also = others
    .slice(0, maxOthers)
    .map(({ tone, text }) => `<li data-tone="${tone}">${show(text)}</li>`)
  const left = others.length - also.length
  const end = left > 0 ? `<li>and ${left} more</li>` : ''
  const main = [
    formatNotice(notice),
    `<header class="summary" data-tone="${first?.tone ?? 'fine'}">`,
    `<p class="eyebrow">${show(title)}</p>`,
    `<h1 data-sentence>${show(first?.text ?? '')}</h1>`,
    also.length === 0 ? '' : `<ul class="also">${also.join('')}${end}</ul>`,
    '</header>',
    formatRollouts(overview, token),
    formatEnded(overview),
    formatFacts(overview),
  ]
  return formatLivePage({ title: `${first?.text ?? ''} ${title}`, main: main.join('\n'), place })
}

/** Formats the list of rollouts as a page. */
export function formatRolloutList(
  overview: Overview,
  place: Place,
  token: FormToken,
  notice: Notice | null,
): string {
  const count = overview.rollouts.length
  const sentence =
    count === 0 ? 'No rollout is unfinished.' : `${pluralize(count, 'unfinished rollout')}.`
  const main = [
    formatNotice(notice),
    '<header class="summary">',
    `<p class="eyebrow">${show(`Edgewise rollouts: ${overview.workspace}`)}</p>`,
    `<h1 data-sentence>${sentence}</h1>`,
    '</header>',
    formatRollouts(overview, token),
    formatEnded(overview),
  ]
  return formatLivePage({ title: `${sentence} Edgewise rollouts`, main: main.join('\n'), place })
}

/** Formats the result of a decision. */
export function formatNotice(notice: Notice | null): string {
  if (notice === null) return ''
  const { tone, text } = notice
  return `<p class="panel outcome" data-tone="${tone}" role="status">${show(text)}</p>`
}

function formatRollouts({ rollouts }: Overview, token: FormToken): string {
  return rollouts.map((each) => formatRollout(each, token, 2)).join('\n')
}

function formatEnded({ ended }: Overview): string {
  return ended
    .map(({ id, onHold, reason, startedAt, author, commit }) => {
      const held = Object.keys(onHold)
      const names = held.slice(0, 1000).map((name) => `<span>${show(name)}</span>`)
      const left = held.length - names.length
      const facts = [
        row('Started', formatInstant(startedAt)),
        row('Author', show(author ?? 'unknown')),
        row('Commit', `<code>${show(shorten(commit ?? 'unknown'))}</code>`),
      ]
      return (
        `<section class="panel rollout" data-rollout="${show(id)}" data-state="ended">` +
        `<header><h2>Rollout ${show(id)}</h2><span class="state">ended</span></header>` +
        `<p class="note">${show(reason ?? 'It was stopped')}. Change the manifests of its ` +
        'domains, or run <code>edgewise apply --retry-held</code>.</p>' +
        `<dl class="facts">${facts.join('')}</dl>` +
        `<details><summary>${pluralize(held.length, 'domain')} on hold</summary>` +
        `<div class="names">${names.join(' ')}${left > 0 ? ` and ${left} more` : ''}</div>` +
        '</details></section>'
      )
    })
    .join('\n')
}

function formatFacts(overview: Overview): string {
  const { role, branch, commit, fetchedAt, applied, drift } = overview
  const unknown = role === 'standby' ? 'known to the leader' : 'none since this replica leads'
  const code = (text: string) => `<code>${show(shorten(text))}</code>`
  const rows = [
    row('Role', role),
    row('Branch', `${show(branch.name)} of ${show(branch.location)}`),
    row('Commit', commit === null ? unknown : code(commit)),
    row('Last fetch', fetchedAt === null ? unknown : formatInstant(fetchedAt)),
    row(
      'Last apply',
      applied === null
        ? unknown
        : `${code(applied.commit)} ${show(applied.status)}, ${formatInstant(applied.at)}`,
    ),
    row(
      'Last drift check',
      drift === null
        ? unknown
        : `<a href="/drift">${drift.pending} pending, ${drift.live} live, ${drift.inDoubt} ` +
            `in-doubt, ${drift.unanswered} not at the service</a>, ${formatInstant(drift.at)}`,
    ),
  ]
  return (
    '<section class="panel about" aria-labelledby="about"><h2 id="about">This replica</h2>' +
    `<dl class="facts">${rows.join('')}</dl></section>`
  )
}

function row(label: string, html: string): string {
  return `<div><dt>${label}</dt><dd>${html}</dd></div>`
}
