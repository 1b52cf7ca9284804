import type { ListedState } from '../../model/listed-rollout.ts'
import type { OpenRollout } from '../../model/overview.ts'
import { findCurrentWave, findNextWave, isSent, type Rollout } from '../../model/rollout.ts'
import { pluralize } from '../../model/words.ts'
import { escapeHtml } from '../page/static-parts.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { shorten } from './headline.ts'
import { formatInstant } from './nav.ts'

/** Domains of a wave that are named, and waves that are drawn. */
const [maxNames, maxWaves] = [1000, 60]

const states: Record<ListedState, string> = {
  running: 'is being sent',
  interrupted: 'interrupted',
  pausing: 'pause or health check',
  ready: 'ready for the next wave',
  'waiting-for-approval': 'waits for approval',
  approved: 'approved',
  paused: 'paused',
  'rolling-back': 'rollback unfinished',
}

/** Token of the forms of a session; null for a client that sends the token of the server. */
export type FormToken = string | null

/** Escapes a text of anybody for HTML. */
export const show = (text: string): string => escapeHtml(escapeInvisible(text))

/** Returns the path of the page of a rollout. */
export function getRolloutPath(id: string): string {
  return `/rollouts/${encodeURIComponent(id)}`
}

/** Formats an unfinished rollout: its waves, facts, domains, and what may be decided. */
export function formatRollout(
  { listed, rollout, step }: OpenRollout,
  token: FormToken,
  heading: 1 | 2,
): string {
  const { id, state, wave, waves } = listed
  const title = heading === 1 ? `Rollout ${show(id)}` : `Rollout ${formatLink(id)}`
  return (
    `<article class="panel rollout" data-rollout="${show(id)}" data-state="${state}">` +
    `<header><h${heading}>${title}</h${heading}>` +
    `<span class="state">${states[state]}</span><span>wave ${wave} of ${waves}</span></header>` +
    formatWaves(rollout) +
    formatFacts({ listed, rollout }) +
    formatDecisions({ listed, rollout, step }, token) +
    formatDomains(rollout) +
    '</article>'
  )
}

function formatLink(id: string): string {
  return `<a href="${escapeHtml(getRolloutPath(id))}">${show(id)}</a>`
}

/** Formats the bar of waves. */
function formatWaves(rollout: Rollout): string {
  const current = findCurrentWave(rollout)
  const entries = rollout.waves.slice(0, maxWaves).map((wave, i) => {
    const { passed, approval, domains } = wave
    const isCurrent = i === current
    const state = passed ? 'passed' : isCurrent ? 'current' : 'to come'
    const approved = approval?.approved ?? null
    const note =
      approval === undefined || passed
        ? ''
        : approved === null
          ? 'needs approval'
          : `approved by ${approved.author}`
    const now = isCurrent && isSent(wave) ? 'sent, being checked' : isCurrent ? 'next' : state
    return (
      `<li data-wave="${state}"${isCurrent ? ' aria-current="step"' : ''}><b>Wave ${i + 1}</b>` +
      `<span>${pluralize(domains.length, 'domain')}</span><span>${now}</span>` +
      `${note === '' ? '' : `<span>${show(note)}</span>`}</li>`
    )
  })
  const left = rollout.waves.length - maxWaves
  const rest = left > 0 ? `<li data-wave="to come"><b>and ${left} more</b></li>` : ''
  return `<ol class="waves">${entries.join('')}${rest}</ol>`
}

function formatFacts({ listed, rollout }: Omit<OpenRollout, 'step'>): string {
  const { since, startedAt, author, commit, apply } = listed
  const { paused } = rollout
  const facts: [string, string][] = [
    [`${states[listed.state]} since`, formatInstant(since)],
    ...(paused === undefined ? [] : [['Paused by', show(paused.author)] as [string, string]]),
    ['Started', formatInstant(startedAt)],
    ['Author', show(author ?? 'unknown')],
    ['Commit', `<code>${show(shorten(commit ?? 'unknown'))}</code>`],
    ...(apply === null ? [] : [['Last apply', show(apply)] as [string, string]]),
  ]
  const rows = facts.map(
    ([label, value]) => `<div><dt>${capitalize(label)}</dt><dd>${value}</dd></div>`,
  )
  return `<dl class="facts">${rows.join('')}</dl>`
}

function formatDecisions({ listed, rollout, step }: OpenRollout, token: FormToken): string {
  const { state, wave, domains } = listed
  if (state === 'rolling-back') {
    const command = `<code>${show(listed.command)}</code>`
    return `<p class="note">The leader finishes the rollback; by hand, ${command} does.</p>`
  }
  const path = escapeHtml(getRolloutPath(rollout.id))
  const approval = rollout.waves[wave - 1]?.approval
  const needsApproval = approval !== undefined && approval.approved === null
  const size = pluralize(domains, 'domain')
  const label =
    state === 'waiting-for-approval'
      ? `Approve wave ${wave} (${size})`
      : state !== 'paused'
        ? ''
        : needsApproval && approval.waitingSince !== null
          ? `Approve wave ${wave} (${size}) and resume`
          : 'Resume'
  const buttons = [
    ...(label === '' ? [] : [formatDecision(`${path}/approve`, label, 'primary', step, token)]),
    ...(state === 'paused' || findNextWave(rollout) === null
      ? []
      : [formatDecision(`${path}/pause`, 'Pause', 'secondary', step, token)]),
    `<a class="button danger" href="${path}/abort">Abort…</a>`,
  ]
  return `<div class="decisions">${buttons.join('')}</div>`
}

/** Formats a form with one button; `step` is what the reader saw. */
export function formatDecision(
  path: string,
  label: string,
  kind: 'primary' | 'secondary' | 'danger',
  step: string,
  token: FormToken,
): string {
  const field = (name: string, value: string) =>
    `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`
  const own = token === null ? '' : field('token', token)
  return (
    `<form method="post" action="${path}">${field('step', step)}${own}` +
    `<button class="button ${kind}">${escapeHtml(label)}</button></form>`
  )
}

/** Formats the domains of each wave that has not passed, folded. */
function formatDomains(rollout: Rollout): string {
  const current = findCurrentWave(rollout) ?? 0
  return rollout.waves
    .slice(0, maxWaves)
    .map(({ domains }, i) => {
      const names = domains.slice(0, maxNames).map((name) => `<span>${show(name)}</span>`)
      const left = domains.length - names.length
      const end = left > 0 ? ` and ${left} more` : ''
      const count = pluralize(domains.length, 'domain')
      const role = i === current ? ', the next' : ''
      return i < current
        ? ''
        : `<details><summary>Wave ${i + 1}${role}: ${count}</summary>` +
            `<div class="names">${names.join(' ')}${end}</div></details>`
    })
    .join('')
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
