import { listedStates } from '../../../core/model/listed-rollout.ts'
import { nameEnd } from '../../../core/model/rollout.ts'
import { formatClock, formatDuration, formatNoun } from '../../../core/model/page/page-words.ts'
import {
  waveStates,
  type PageCurve,
  type PageRollout,
  type PageWave,
  type RolloutAbout,
  type WaveHealth,
  type WaveState,
} from '../../../core/model/page/page-rollout.ts'
import type { Action } from '../../../core/model/people/roles.ts'
import { mapSome, pluralize } from '../../../core/model/text/words.ts'
import { computeShare, formatCurve, formatShare, formatSpan } from './format-curve.ts'
import { escapeHtml, formatFacts, formatInstant, formatList, formatNames, show } from './html.ts'

/** Token of the forms of a session; null for a client that sends the token of the server. */
export type FormToken = string | null

/** Where a rollout is drawn. */
interface Drawing {
  heading?: 1 | 2
  token?: FormToken
  /** Explains why the reader may not decide something; absent: everything is allowed. */
  explain?(action: Action, rollout: string): string | null
  /** Sentence about the waves; empty for none. */
  summary?: string
  /** Whether the page has filters, so that its waves are links. */
  hasFilters?: boolean
}

/** Waves that were not begun, of which no more are drawn, and names of domains. */
const [maxWaves, maxNames] = [60, 1000]
/** Up to this number of checked waves, all are open. */
const maxOpen = 4

/**
 * Formats a rollout, or the waves of a plan or an apply: what is known of it, what may be decided,
 * and its waves with their health. All pages draw it so.
 */
export function formatRollout(rollout: PageRollout, drawing: Drawing = {}): string {
  const { about, waves, rollback } = rollout
  if (about === null && waves.length === 0) return ''
  const { summary = '', token = null } = drawing
  const attributes =
    about === null
      ? 'aria-labelledby="rh"'
      : `data-rollout="${show(about.id)}" data-state="${about.state}"`
  const onHold =
    about === null || about.onHold.length === 0
      ? ''
      : formatNames(
          `${pluralize(about.onHold.length, 'domain')} on hold`,
          about.onHold,
          maxNames,
          true,
        )
  return (
    `<section class="panel rollout" ${attributes}><div class="bar">` +
    formatTitle(about, drawing.heading ?? 2) +
    `${summary === '' ? '' : `<p class="soft">${escapeHtml(summary)}</p>`}</div>` +
    formatRollback(rollback, waves) +
    (about === null ? '' : formatAbout(about, token, drawing.explain ?? (() => null))) +
    formatWaves(waves, about?.progress?.wave ?? null, drawing.hasFilters === true) +
    `${onHold}</section>`
  )
}

function formatTitle(about: RolloutAbout | null, heading: 1 | 2): string {
  if (about === null) return '<h2 id="rh">Waves</h2>'
  const { id, state, progress } = about
  const words: Record<string, string> = listedStates
  const link = `<a href="${escapeHtml(getRolloutPath(id))}">${show(id)}</a>`
  const title = heading === 1 ? show(id) : link
  const at = progress === null ? '' : `<span>wave ${progress.wave} of ${progress.waves}</span>`
  return (
    `<h${heading}>Rollout ${title}</h${heading}>` +
    `<span class="tag">${words[state] ?? nameEnd(state)}</span>${at}`
  )
}

/** Returns the path of the page of a rollout. */
export function getRolloutPath(id: string): string {
  return `/rollouts/${encodeURIComponent(id)}`
}

/** Formats the rollback; its reason is that of a wave, which the page has already. */
function formatRollback(rollback: PageRollout['rollback'], waves: PageWave[]): string {
  if (rollback === null) return ''
  const { reason, writes } = rollback
  const cause = waves.find(({ health }) => health?.state === 'worse')
  const why = cause === undefined ? reason : `wave ${cause.wave} is worse than its baseline.`
  return (
    '<p class="callout rollback" data-rollback><strong><span aria-hidden="true">↩</span> ' +
    `Rolled back${writes === undefined ? '' : ` with ${pluralize(writes, 'write')}`}:</strong> ` +
    `${show(why)}</p>`
  )
}

function formatAbout(
  about: RolloutAbout,
  token: FormToken,
  explain: NonNullable<Drawing['explain']>,
): string {
  const { id, note, command, facts, step, decisions, canAbort } = about
  const path = escapeHtml(getRolloutPath(id))
  const forms = decisions.map(({ verb, label }) => {
    const kind = verb === 'pause' ? 'secondary' : 'primary'
    const refusal = explain(verb, id)
    return formatDecision(`${path}/${verb}`, label, kind, step, token, { refusal })
  })
  const kept = canAbort ? explain('abort', id) : null
  if (kept !== null) forms.push(formatRefused(`${path}/abort`, 'Abort…', 'danger', kept))
  else if (canAbort) forms.push(`<a class="button danger" href="${path}/abort">Abort…</a>`)
  const code = command === '' ? '' : ` <code>${show(command)}</code>`
  return (
    (note === '' ? '' : `<p class="note">${show(note)}${code}</p>`) +
    formatFacts(
      facts.flatMap(([label, text, isTime]) =>
        text === null ? [] : [[label, isTime === true ? formatInstant(text) : show(text)]],
      ),
    ) +
    (forms.length === 0 ? '' : `<div class="decisions">${forms.join('')}</div>`)
  )
}

/** Formats a button of what the reader may not do, with the reason. */
function formatRefused(path: string, label: string, kind: string, refusal: string): string {
  const id = `why${path.replaceAll(/[^\w-]/g, '-')}`
  return (
    `<p class="note"><button class="button ${kind}" disabled aria-describedby="${id}">` +
    `${show(label)}</button> <span id="${id}">${show(refusal)}</span></p>`
  )
}

/**
 * Formats a form with one button; `step` is what the reader saw; `reason` labels a field, and
 * `refusal` is why the reader may not do it.
 */
export function formatDecision(
  path: string,
  label: string,
  kind: 'primary' | 'secondary' | 'danger',
  step: string,
  token: FormToken,
  { reason = '', refusal = null }: { reason?: string; refusal?: string | null } = {},
): string {
  if (refusal !== null) return formatRefused(path, label, kind, refusal)
  const why =
    reason === '' ? '' : `<label>${show(reason)} <input name="reason" maxlength="500"></label> `
  const field = (name: string, value: string) =>
    `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`
  const own = token === null ? '' : field('token', token)
  return (
    `<form method="post" action="${path}">${field('step', step)}${own}${why}` +
    `<button class="button ${kind}">${show(label)}</button></form>`
  )
}

/** Formats the waves; many healthy ones are closed, and those at the end are counted. */
function formatWaves(waves: PageWave[], current: number | null, hasFilters: boolean): string {
  const isIdle = ({ health }: PageWave) => health === null || health.state === 'not-begun'
  const begun = waves.filter((wave) => !isIdle(wave))
  const idle = waves.filter(isIdle)
  const folds = begun.filter(({ health }) => health?.curve).length > maxOpen
  const isQuiet = ({ health }: PageWave) => folds && health?.state === 'healthy'
  const format = (wave: PageWave) => formatWave(wave, wave.wave === current, hasFilters)
  const quiet = begun.filter(isQuiet)
  const countRest = (rest: number) =>
    `<li class="wave"><h3>and ${pluralize(rest, 'more wave')}</h3></li>`
  const entries = [
    ...begun.filter((wave) => !isQuiet(wave)).map(format),
    ...(quiet.length === 0 ? [] : [formatQuiet(quiet, format)]),
    ...mapSome(idle, maxWaves, format, countRest),
  ]
  return entries.length === 0 ? '' : `<ol class="waves">${entries.join('')}</ol>`
}

/** Formats the waves that need no attention: a list that is closed at first. */
function formatQuiet(waves: PageWave[], format: (wave: PageWave) => string): string {
  return (
    '<li class="wave" data-state="healthy"><details data-fold><summary>' +
    `<h3>${formatSymbol('healthy')} ${pluralize(waves.length, 'healthy wave')}</h3></summary>` +
    `<ol class="waves">${waves.map(format).join('')}</ol></details></li>`
  )
}

function formatWave(wave: PageWave, isCurrent: boolean, hasFilters: boolean): string {
  const { health, names } = wave
  const state = health === null ? '' : ` data-state="${health.state}"`
  const step = isCurrent ? ' aria-current="step"' : ''
  return (
    `<li class="wave" data-wave="${wave.wave}"${state}${step}>` +
    `<h3>${formatWaveTitle(wave, hasFilters)}</h3>${formatSize(wave)}` +
    (health === null ? '' : formatHealth(health)) +
    (names.length === 0
      ? ''
      : formatNames(formatNoun(names.length, 'domain'), names, maxNames, true)) +
    '</li>'
  )
}

function formatWaveTitle({ wave, health, times }: PageWave, hasFilters: boolean): string {
  const name =
    hasFilters && times !== null ? `<a href="#wave=${wave}">Wave ${wave}</a>` : `Wave ${wave}`
  if (health === null) return name
  return `${formatSymbol(health.state)} ${name}: ${waveStates[health.state][1]}`
}

function formatSymbol(state: WaveState): string {
  return `<b class="sign" aria-hidden="true">${waveStates[state][0]}</b>`
}

/** Formats how large a wave is, when it is written, and what is after and before it. */
function formatSize({ domains, times, approval, names, health }: PageWave): string {
  const size = [
    ...(domains === null || names.length > 0 ? [] : [formatNoun(domains, 'domain')]),
    ...(times === null ? [] : [formatNoun(times.writes, 'write')]),
  ].join(', ')
  const isWritten = health !== null && health.state !== 'not-begun'
  const lines = [
    ...(size === '' ? [] : [size]),
    ...(times === null || isWritten ? [] : [formatWhen(times)]),
    ...(times === null || isWritten || times.waitSeconds === 0
      ? []
      : [`then ${formatDuration(times.waitSeconds)} for health check and pause`]),
  ].map((line) => `<p class="soft">${line}</p>`)
  const gate = approval === null ? '' : `<p class="gate">◆ ${show(approval)}</p>`
  return lines.join('') + gate
}

function formatWhen({ from, to }: NonNullable<PageWave['times']>): string {
  const [start, end] = [formatClock(from), formatClock(to)]
  return start === end ? `at ${start}` : `${start} to ${end}`
}

function formatHealth({ reason, figures, rule, worse, curve, checks }: WaveHealth): string {
  const finding =
    (reason === null ? '' : `<p class="reason">${show(reason)}</p>`) +
    (figures === null ? '' : `<p>${show(figures)}</p>`) +
    formatWorse(worse) +
    (curve === null ? '' : `<p class="soft">${formatTimes(curve, checks)}</p>`) +
    (rule === null ? '' : `<p class="soft">${show(rule)}</p>`)
  if (curve === null) return finding === '' ? '' : `<div class="finding">${finding}</div>`
  return `<div class="both"><div class="finding">${finding}</div>${formatCurve(curve)}</div>`
}

function formatTimes({ written, before, after }: PageCurve, checks: number): string {
  const last = checks > 1 ? ` Checked ${checks} times; this is the last check.` : ''
  return (
    `Written ${formatSpan(written)}. Compared: ${formatSpan(before)} with ${formatSpan(after)}.` +
    last
  )
}

function formatWorse(worse: WaveHealth['worse']): string {
  if (worse.length === 0) return ''
  const entries = worse.map(
    ({ domain, before, after }) =>
      `<li><span class="domain">${show(domain)}</span> <span class="shares">` +
      [before, after].map((each) => show(formatShare(computeShare(each)))).join(' → ') +
      '</span></li>',
  )
  const others = 'more worse domains'
  return formatList(entries, { visible: 6, max: 300, others, className: 'worse' })
}
