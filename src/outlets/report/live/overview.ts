import {
  nameStop,
  type DriftCounts,
  type OpenRollout,
  type Overview,
} from '../../../core/model/listed-rollout.ts'
import type { Tone } from '../../../core/model/page/fleet.ts'
import type { Action } from '../../../core/model/people/roles.ts'
import {
  describeEnding,
  findCurrentWave,
  isSent,
  type Rollout,
} from '../../../core/model/rollout.ts'
import { countMore, formatCount, mapSome, pluralize } from '../../../core/model/text/words.ts'
import {
  formatDecision,
  formatRollout,
  getRolloutPath,
  type FormToken,
} from '../page/format-rollout.ts'
import { formatShell } from '../page/format-shell.ts'
import {
  formatFacts,
  formatInstant,
  formatLink,
  formatLog,
  formatSummary,
  show,
} from '../page/html.ts'
import type { RolloutEvent } from '../apply/rollout-text.ts'
import { buildEndedRollout, buildOpenRollout } from './build-rollout.ts'
import { type Headline, listHeadlines } from './headline.ts'
import { listLately, logEnded } from './lately.ts'
import { formatNav, shorten, type Place } from './nav.ts'

/** Sentences of a list. */
const maxOthers = 20

/** Parts of a page of a server beside its content. */
export interface Frame {
  place: Place
  token: FormToken
  /** Result of a decision, to be shown once; null for none. */
  notice: string | null
  /** Lists the events of the waves of a rollout that this process has seen. */
  listEvents(rollout: string): RolloutEvent[]
  /** What is left to change, as HTML, and when that was found, ISO 8601; null: not known yet. */
  open: { changes: string; at: string } | null
  /** Explains why the reader may not decide something, about a rollout or all writes. */
  explain(action: Action, rollout: string | null): string | null
}

/**
 * Formats the overview: the state of the fleet if it is known, then the most important sentence,
 * what is left to change, rollouts and facts.
 *
 * @param fleet `before`: when it was found, ISO 8601, if anything has changed since
 */
export function formatOverview(
  overview: Overview,
  frame: Frame,
  fleet: (FleetSummary & { before: string | null }) | null = null,
): string {
  const headlines = [...listHeadlines(overview), ...(fleet?.refused ?? [])]
  const [first] = headlines
  const title = `Edgewise: ${overview.workspace}`
  const main = [
    fleet === null
      ? ''
      : `<p class="callout" data-tone="${fleet.tone}"><a href="/domains">` +
        `${show(fleet.sentence)}</a>` +
        `${fleet.before === null ? '' : ` As of ${formatInstant(fleet.before)}.`}</p>`,
    formatSummary(title, first?.text ?? '', [], first?.tone ?? 'fine'),
    formatHeadlines(headlines.filter(({ tone }) => tone !== 'busy' && tone !== 'fine')),
    formatOpen(overview.rollouts, frame),
    ...formatRollouts(overview, frame),
    formatLog('The last day', listLately(overview, frame.place.at)),
    formatStop(overview, frame),
    formatReplica(overview),
  ]
  return formatServerPage(`${first?.text ?? ''} ${title}`, main, frame)
}

/** What is known of the fleet. */
export interface FleetSummary {
  sentence: string
  tone: Tone
  /** What the service refused and is still pending, some of it. */
  refused: Headline[]
}

function formatHeadlines(headlines: Headline[]): string {
  if (headlines.length === 0) return ''
  const entries = mapSome(
    headlines,
    maxOthers,
    ({ tone, text, href }) => `<li data-tone="${tone}">${formatLink(text, href)}</li>`,
    (rest) => `<li>${countMore(rest)}</li>`,
  )
  return `<h2>Needs attention</h2><ul class="also">${entries.join('')}</ul>`
}

/** Formats the list of rollouts as a page. */
export function formatRolloutList(overview: Overview, frame: Frame): string {
  const count = overview.rollouts.length
  const sentence =
    count === 0 ? 'No rollout is unfinished.' : `${pluralize(count, 'unfinished rollout')}.`
  const title = `Edgewise rollouts: ${overview.workspace}`
  const main = [
    formatSummary(title, sentence, [], 'fine'),
    count === 0 ? '' : formatOpen(overview.rollouts, frame),
    ...formatRollouts(overview, frame),
    formatLog('Ended', overview.ended.toReversed().map(logEnded)),
  ]
  return formatServerPage(`${sentence} Edgewise rollouts`, main, frame)
}

/** Formats the page of an unfinished rollout. */
export function formatRolloutPage(open: OpenRollout, frame: Frame): string {
  const rollout = buildOpenRollout(open, frame.listEvents(open.rollout.id))
  const title = `Rollout ${open.rollout.id}: wave ${open.listed.wave} of ${open.listed.waves}`
  const main = formatRollout(rollout, {
    heading: 1,
    token: frame.token,
    explain: frame.explain,
  })
  return formatServerPage(title, [formatOpen([open], frame), main], frame)
}

/** Formats the page of a rollout that has ended. */
export function formatEndedPage(rollout: Rollout, { applied }: Overview, frame: Frame): string {
  const main = formatRollout(buildEndedRollout(rollout, applied?.left ?? []), { heading: 1 })
  return formatServerPage(`Rollout ${rollout.id}: ${describeEnding(rollout)}`, [main], frame)
}

/** Formats what is left to change, which readers decide about, and leads to the whole plan. */
function formatOpen(rollouts: readonly OpenRollout[], { open }: Frame): string {
  const plan = '<a href="/plan">The whole plan</a>'
  if (open === null || open.changes === '')
    return rollouts.length === 0 ? '' : `<p class="jumps">${plan}</p>`
  return (
    '<section class="panel open" aria-labelledby="open"><h2 id="open">Left to change</h2>' +
    `<p class="note">From state to the manifests, as of ${formatInstant(open.at)}. ${plan}</p>` +
    `${open.changes}</section>`
  )
}

function formatServerPage(title: string, main: string[], { place, notice }: Frame): string {
  const outcome =
    notice === null
      ? ''
      : `<p class="callout outcome" data-tone="fine" role="status">${show(notice)}</p>`
  return formatShell({ title, main: [outcome, ...main].join('\n'), nav: formatNav(place) })
}

/** Formats the unfinished rollouts without their curves, which the page of each has. */
function formatRollouts({ rollouts }: Overview, { token, listEvents, explain }: Frame): string[] {
  return rollouts.map((each) => {
    const { waves, ...rollout } = buildOpenRollout(each, listEvents(each.rollout.id))
    const withoutCurves = waves.map(({ health, ...wave }) => ({
      ...wave,
      health: health === null ? null : { ...health, curve: null },
    }))
    return formatRollout({ ...rollout, waves: withoutCurves }, { token, explain })
  })
}

/** Formats the button that stops all writes of the account, or the one that resumes them. */
function formatStop({ stop }: Overview, { token, explain }: Frame): string {
  const [title, note, form] =
    stop === null
      ? [
          'Stop all writes',
          'Within 2 seconds no runner that shares this database sends a write of the account any ' +
            'more; rollbacks are not sent either.',
          formatDecision('/rollouts/all/stop', 'Stop all writes', 'danger', 'none', token, {
            reason: 'Reason',
            refusal: explain('stop-all', null),
          }),
        ]
      : [
          'All writes are stopped',
          'Runners refuse to apply and to roll back until the writes are resumed.',
          formatDecision('/rollouts/all/resume', 'Resume', 'primary', nameStop(stop), token, {
            refusal: explain('resume-all', null),
          }),
        ]
  return (
    `<section class="panel" data-stop><h2>${title}</h2><p class="note">${note}</p>` +
    `<div class="decisions">${form}</div></section>`
  )
}

type Row = [label: string, html: string]

function formatReplica(overview: Overview): string {
  const { role, branch, commit, fetchedAt, applied, drift, working } = overview
  const unknown = 'none yet'
  const code = (text: string) => `<code>${show(shorten(text))}</code>`
  const rows: Row[] = [
    ['Role', role],
    ...(working === null
      ? []
      : [['Works on', `${show(working.what)}, since ${formatInstant(working.since)}`] as Row]),
    ['Branch', `${show(branch.name)} of ${show(branch.location)}`],
    ['Commit', commit === null ? unknown : code(commit)],
    ['Last fetch', fetchedAt === null ? unknown : formatInstant(fetchedAt)],
    [
      'Last apply',
      applied === null
        ? unknown
        : `${code(applied.commit)} ${show(applied.status)}, ${formatInstant(applied.at)}`,
    ],
    [
      'Last drift check',
      drift === null
        ? unknown
        : `<a href="/drift">${formatDriftCounts(drift)}</a>, ${formatInstant(drift.at)}`,
    ],
  ]
  return (
    '<section class="panel about" aria-labelledby="about"><h2 id="about">This replica</h2>' +
    `${formatFacts(rows)}</section>`
  )
}

function formatDriftCounts({ pending, live, inDoubt, unanswered }: DriftCounts): string {
  return (
    `${formatCount(pending)} pending, ${formatCount(live)} at the service, ` +
    `${formatCount(inDoubt)} in-doubt, ${formatCount(unanswered)} unknown to the service`
  )
}

/** Formats the question whether to abort, with what will happen. */
export function formatAbortPage(open: OpenRollout, frame: Frame): string {
  const { rollout, listed, step } = open
  const sent = rollout.waves.filter((wave) => wave.passed || isSent(wave))
  const left = rollout.waves.filter((wave) => !wave.passed && !isSent(wave))
  const count = (waves: typeof sent) =>
    pluralize(
      waves.reduce((sum, { domains }) => sum + domains.length, 0),
      'domain',
    )
  const wave = `wave ${(findCurrentWave(rollout) ?? 0) + 1} of ${listed.waves}`
  const running =
    listed.state === 'running'
      ? '<li>The wave that is being sent ends first; if that takes long, this is refused, and ' +
        'nothing is decided.</li>'
      : ''
  const effect =
    left.length === 0 ? 'All of its domains are sent.' : `${count(left)} would be on hold.`
  const path = getRolloutPath(rollout.id)
  const main =
    `<section class="panel confirm"><p class="eyebrow">Rollout ${show(rollout.id)}, ${wave}</p>` +
    `<h1>Abort the rollout? ${effect}</h1>` +
    `<ul><li>Already sent: ${count(sent)} (${pluralize(sent.length, 'wave')}). Nothing of it is ` +
    'rolled back.</li>' +
    `<li>Not sent: ${count(left)} (${pluralize(left.length, 'wave')}), on hold until the ` +
    'manifests change.</li>' +
    `${running}<li>It can't be undone here. <code>edgewise apply --retry-held</code> applies the ` +
    'changes on hold.</li></ul>' +
    '<div class="decisions">' +
    formatDecision(`${path}/abort`, 'Abort the rollout', 'danger', step, frame.token, {
      refusal: frame.explain('abort', rollout.id),
    }) +
    `<a class="button secondary" href="${path}">Keep it</a></div></section>`
  return formatServerPage(`Abort rollout ${rollout.id}?`, [main], frame)
}
