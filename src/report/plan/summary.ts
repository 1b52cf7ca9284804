import type { Plan } from '../../model/plan.ts'
import { pluralize } from '../../model/words.ts'
import type { Paint } from '../text/paint.ts'

/**
 * Formats `Plan: 3 to set, 2 to change on 5 domains · 4 writes (at least 4) · about 20 min in 3
 * waves`. Conditional changes are counted separately.
 */
export function formatPlanSummary(plan: Plan, paint: Paint): string {
  const { writes, lowerBound } = plan.summary
  const count = `${pluralize(writes, 'write')} (at least ${lowerBound})`
  return `${paint.bold('Plan:')} ${formatActions(plan)} · ${formatWriteCount(plan, count)}`
}

/** Formats that a plan sends nothing, and what is on hold. */
export function formatNothing({ summary: { held } }: Plan): string {
  return held === 0 ? 'No changes.' : `Nothing to send: ${pluralize(held, 'change')} on hold.`
}

/** Formats the summary without the bound, and the number of changes on hold. */
export function formatPlanSentence(plan: Plan): string {
  const { writes, held } = plan.summary
  const onHold = held === 0 ? [] : [`${pluralize(held, 'change')} on hold`]
  if (plan.changes.length === 0) return formatNothing(plan)
  const count = formatWriteCount(plan, pluralize(writes, 'write'))
  return [formatActions(plan), count, ...onHold].join(' · ')
}

function formatActions({ summary }: Plan): string {
  const { conditional } = summary
  const parts = (
    [
      [summary.set, 'to set'],
      [summary.change - conditional, 'to change'],
      [summary.unset, 'to unset'],
      [summary.release, 'to release'],
      [conditional, "conditional (sent only if the secret's value differs)"],
    ] as const
  ).flatMap(([count, words]) => (count > 0 ? [`${count} ${words}`] : []))
  return `${parts.join(', ')} on ${pluralize(summary.domains, 'domain')}`
}

function formatWriteCount(plan: Plan, count: string): string {
  return plan.summary.writes === 0 ? 'no writes' : `${count} · ${formatTime(plan)}`
}

/** Formats the minimum time of a plan, its waves, and the waits that are not part of it. */
function formatTime(plan: Plan): string {
  const { summary, writes, budgetWait = 0 } = plan
  const approvals = listApprovals(plan)
  const waves = new Set(writes.map(({ wave }) => wave)).size
  const time = summary.totalSeconds === 0 ? 'a few seconds' : formatAbout(summary.totalSeconds)
  const wave = waves < 2 ? '' : ` of ${formatWaves(approvals)}`
  return [
    `${time}${waves < 2 ? '' : ` in ${waves} waves`}`,
    ...(budgetWait > 0 ? [`after up to ${budgetWait} s for the call budget`] : []),
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
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `about ${rest} min`
  return rest === 0 ? `about ${hours} h` : `about ${hours} h ${rest} min`
}
