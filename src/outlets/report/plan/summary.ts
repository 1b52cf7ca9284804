import { selectDefinite, type Plan, type Stay } from '../../../core/model/plan.ts'
import {
  formatCount,
  formatLength,
  listCounts,
  listSome,
  pluralize,
} from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'
import { formatValue } from './value-text.ts'

/**
 * Formats `Plan: 3 to set, 2 to change on 5 domains · 4 writes (at least 4) · about 20 min in 3
 * waves`, without conditional changes.
 */
export function formatPlanSummary(plan: Plan, paint: Paint): string {
  const definite = selectDefinite(plan)
  const { writes, lowerBound } = definite.summary
  const count = `${pluralize(writes, 'write')} (at least ${formatCount(lowerBound)})`
  const time = formatWriteCount(definite, count)
  return `${paint.bold('Plan:')} ${formatActions(definite)} · ${time}`
}

/** Formats the values that stay although manifests dropped them: one sentence, or none. */
export function formatStays(stays: Stay[] = []): string[] {
  if (stays.length === 0) return []
  const names = stays.map(({ item, field, value }) => `${item}.${field} [${formatValue(value)}]`)
  const domains = stays.map(({ domain }) => escapeInvisible(domain))
  const [what, where] = [listSome([...new Set(names)], 6), listSome([...new Set(domains)])]
  const [verb, it] = stays.length === 1 ? ['stays', 'it'] : ['stay', 'them']
  return [
    `${pluralize(stays.length, 'value')} ${verb}: ${what}; write ${it} to change ${it} (${where}).`,
  ]
}

/** Formats the number of conditional changes; null for none. */
export function formatConditional({ definite, summary: { conditional } }: Plan): string | null {
  if (definite === undefined) return null
  return `${pluralize(conditional, 'secret is', 'secrets are')} compared at the apply`
}

/**
 * Formats that a plan sends nothing for certain, what is on hold, and what is conditional.
 *
 * @param hint what lists the conditional changes, in parentheses after a blank; default: none
 */
export function formatNothing(plan: Plan, hint = ''): string {
  const { held, conditional } = plan.summary
  const compared = formatConditional(plan)
  if (held > 0) {
    const end = compared === null ? '' : ` ${compared}${hint}.`
    return `Nothing to send: ${pluralize(held, 'change')} on hold.${end}`
  }
  if (compared === null) return plan.stays === undefined ? 'No changes.' : 'Nothing to send.'
  const secrets = pluralize(conditional, 'secret that is', 'secrets that are')
  return `No changes but for ${secrets} compared at the apply${hint}.`
}

/** Formats the summary without the bound, and the numbers of other changes. */
export function formatPlanSentence(plan: Plan): string {
  const definite = selectDefinite(plan)
  const { writes, held } = definite.summary
  const stays = formatStays(plan.stays)
  if (definite.changes.length === 0) return [...stays, formatNothing(plan)].join(' ')
  return [
    ...stays,
    formatActions(definite),
    formatWriteCount(definite, pluralize(writes, 'write')),
    ...listCounts([[held, 'change on hold', 'changes on hold']]),
    formatConditional(plan) ?? [],
  ]
    .flat()
    .join(' · ')
}

function formatActions({ summary }: Plan): string {
  const parts = listCounts([
    [summary.set, 'to set'],
    [summary.change, 'to change'],
    [summary.unset, 'to unset'],
    [summary.release, 'to release'],
  ])
  return `${parts.join(', ')} on ${pluralize(summary.domains, 'domain')}`
}

function formatWriteCount(plan: Plan, count: string): string {
  return plan.summary.writes === 0 ? 'no writes' : `${count} · ${formatTime(plan)}`
}

/** Formats the minimum time of a plan, its waves, and the waits that are not part of it. */
function formatTime(plan: Plan): string {
  const { summary, writes } = plan
  const approvals = listApprovals(plan)
  const waves = new Set(writes.map(({ wave }) => wave)).size
  const time = summary.totalSeconds === 0 ? 'a few seconds' : formatAbout(summary.totalSeconds)
  const wave = waves < 2 ? '' : ` of ${formatWaves(approvals)}`
  return [
    `${time}${waves < 2 ? '' : ` in ${waves} waves`}`,
    ...(approvals.length > 0 ? [`plus the wait for approval${wave}`] : []),
  ].join(', ')
}

/** Lists the numbers of the waves that wait for approval. */
export function listApprovals({ approvals = [], awaited = [] }: Plan): number[] {
  return [...approvals, ...awaited]
}

function formatWaves(numbers: number[]): string {
  const last = numbers.at(-1)
  const others = numbers.slice(0, -1)
  return others.length === 0 ? `wave ${last}` : `waves ${others.join(', ')} and ${last}`
}

/** Formats a length of time: seconds below one minute, then minutes, from 1 hour in steps of 5. */
function formatAbout(seconds: number): string {
  if (seconds < 60) return `about ${seconds} s`
  const exact = seconds / 60
  const minutes = exact < 60 ? Math.round(exact) : 5 * Math.round(exact / 5)
  return `about ${formatLength(minutes * 60_000)}`
}
