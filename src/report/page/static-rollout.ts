import type { Sample } from '../../model/health.ts'
import type { PageRollout, PageWaveHealth, WaveState } from '../../model/page-rollout.ts'
import { pluralize } from '../../model/words.ts'
import { formatPercent } from '../stats/figures.ts'
import { fitText } from './fit-page.ts'
import { escapeHtml } from './static-parts.ts'

/** Domains of a wave that are visible before the rest is opened, and that are named at all. */
const [visibleDomains, maxDomains] = [6, 300]
/** Up to this number of checked waves, all are open. */
const maxOpen = 4

/** Symbol and words of each state. */
const states: Record<WaveState, [symbol: string, words: string]> = {
  worse: ['✕', 'worse'],
  running: ['…', 'health check not finished'],
  unclear: ['?', 'unclear'],
  waiting: ['…', 'waiting'],
  begun: ['–', 'not completely written'],
  healthy: ['✓', 'healthy'],
  unchecked: ['–', 'written without a health check'],
  unseen: ['–', 'written; this replica has seen no health check of it'],
  'not-begun': ['–', 'not begun'],
}

/** Cuts the texts of a rollout, and makes them safe to show, but not yet to put into HTML. */
export function fitRollout({ waves, rollback }: PageRollout): PageRollout {
  const fit = (text: string | null) => (text === null ? null : fitText(text))
  return {
    rollback: rollback === null ? null : { ...rollback, reason: fitText(rollback.reason) },
    waves: waves.map(({ reason, figures, rule, worse, curve, ...wave }) => ({
      ...wave,
      reason: fit(reason),
      figures: fit(figures),
      rule: fit(rule),
      worse: worse.map((each) => ({ ...each, domain: fitText(each.domain, 300) })),
      curve: curve === null ? null : { ...curve, statuses: fitText(curve.statuses, 200) },
    })),
  }
}

/** Formats the health of each wave; a script adds the charts, if there are curves. */
export function formatRollout({ waves, rollback }: PageRollout): string {
  const begun = waves.filter(({ state }) => state !== 'not-begun')
  const rest = waves.filter(({ state }) => state === 'not-begun').map(({ wave }) => wave)
  const checked = begun.filter(({ curve }) => curve !== null)
  const folds = checked.length > maxOpen
  const isQuiet = ({ state }: PageWaveHealth) => folds && state === 'healthy'
  const entries = begun.filter((wave) => !isQuiet(wave)).map((wave) => formatWave(wave, false))
  const quiet = begun.filter(isQuiet).map((wave) => formatWave(wave, true))
  if (quiet.length > 0) entries.push(formatQuiet(quiet))
  if (rest.length > 0)
    entries.push(
      `<li class="check" data-state="not-begun"><h3>${formatSymbol('not-begun')} ` +
        `Not begun: wave${rest.length === 1 ? '' : 's'} ${rest.join(', ')}</h3></li>`,
    )
  return (
    '<section class="panel rollout" data-rollout aria-labelledby="rh">' +
    `<div class="bar"><h2 id="rh">Waves and their health</h2></div>` +
    formatRollback(rollback, waves) +
    `<ol>${entries.join('')}</ol></section>`
  )
}

/** Formats the waves that need no attention: a list that is closed at first. */
function formatQuiet(waves: string[]): string {
  return (
    '<li class="check" data-state="healthy"><details data-fold><summary>' +
    `<h3>${formatSymbol('healthy')} ${pluralize(waves.length, 'healthy wave')}</h3></summary>` +
    `<ol>${waves.join('')}</ol></details></li>`
  )
}

/** Formats the rollback; its reason is that of a wave, which the page has already. */
function formatRollback(rollback: PageRollout['rollback'], waves: PageWaveHealth[]): string {
  if (rollback === null) return ''
  const { reason, writes } = rollback
  const cause = waves.find(
    (wave) => wave.state === 'worse' && reason.includes(wave.reason ?? reason),
  )
  const why = cause === undefined ? reason : `wave ${cause.wave} is worse than its baseline.`
  return (
    '<p class="rollback" data-rollback><strong><span aria-hidden="true">↩</span> Rolled back ' +
    `with ${pluralize(writes, 'write')}:</strong> ${escapeHtml(why)}</p>`
  )
}

/** @param folds whether the wave is closed at first */
function formatWave(wave: PageWaveHealth, folds: boolean): string {
  const { state, curve, checks } = wave
  const title = `${formatSymbol(state)} Wave ${wave.wave}: ${states[state][1]}`
  const figures = wave.figures === null ? '' : `<p>${escapeHtml(wave.figures)}</p>`
  const finding =
    (wave.reason === null ? '' : `<p class="reason">${escapeHtml(wave.reason)}</p>`) +
    figures +
    formatWorse(wave) +
    (curve === null ? '' : `<p class="soft">${formatTimes(curve, checks)}</p>`) +
    (wave.rule === null ? '' : `<p class="soft">${escapeHtml(wave.rule)}</p>`)
  const chart = curve === null ? '' : `<div class="chart" data-chart="${wave.wave}"></div>`
  const body = `<div class="both"><div class="finding">${finding}</div>${chart}</div>`
  const open = `<li class="check" data-check="${wave.wave}" data-state="${state}">`
  if (!folds) return `${open}<h3>${title}</h3>${body}</li>`
  const summary = `<summary><h3>${title}</h3> <span class="soft">${escapeHtml(wave.figures ?? '')}`
  return `${open}<details data-fold>${summary}</span></summary>${body}</details></li>`
}

function formatSymbol(state: WaveState): string {
  return `<b class="mark" aria-hidden="true">${states[state][0]}</b>`
}

function formatTimes(
  { written, before, after }: NonNullable<PageWaveHealth['curve']>,
  checks: number,
): string {
  const last = checks > 1 ? ` Checked ${checks} times; this is the last check.` : ''
  return (
    `Written ${formatSpan(written)}. Compared: ${formatSpan(before)} with ${formatSpan(after)}.` +
    last
  )
}

/** Formats a span of seconds since 1970 as `2026-11-20 12:00 to 12:15 UTC`. */
function formatSpan([from, to]: [number, number]): string {
  const [start, end] = [from, to].map((seconds) =>
    new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' '),
  )
  if (start === end) return `${start} UTC`
  const isSameDay = start?.slice(0, 10) === end?.slice(0, 10)
  return `${start} to ${isSameDay ? end?.slice(11) : end} UTC`
}

function formatWorse({ worse }: PageWaveHealth): string {
  if (worse.length === 0) return ''
  const visible = worse.length <= visibleDomains + 2 ? worse.length : visibleDomains
  const format = (from: number, to: number) =>
    worse
      .slice(from, to)
      .map(
        ({ domain, before, after }) =>
          `<li><span class="domain">${escapeHtml(domain)}</span> ` +
          `<span class="shares">${formatShare(before)} → ${formatShare(after)}</span></li>`,
      )
      .join('')
  const list = `<ul class="worse" data-worse>${format(0, visible)}</ul>`
  if (visible === worse.length) return list
  const left = worse.length - maxDomains
  const end = left > 0 ? `<li>and ${left} more</li>` : ''
  return (
    `${list}<details><summary>${worse.length - visible} more worse domains</summary>` +
    `<ul class="worse">${format(visible, maxDomains)}${end}</ul></details>`
  )
}

function formatShare({ requests, bad }: Sample): string {
  return requests === 0 ? 'no requests' : `${escapeHtml(formatPercent(bad / requests))} %`
}
