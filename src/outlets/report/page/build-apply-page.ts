import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Page } from '../../../core/model/page/page.ts'
import { selectDefinite, type PlanTimes } from '../../../core/model/plan.ts'
import { collectOutcomes, type Unconfirmed } from '../apply/outcomes.ts'
import { formatResult, splitEvents, type ApplyReport } from '../apply/markdown.ts'
import { isWaiting } from '../apply/text.ts'
import { buildPlanned } from './build-plan-page.ts'
import { findChangeStates } from './change-states.ts'
import { addHealth } from './build-rollout.ts'
import { beginPage, type PageAbout } from './page-about.ts'
import { pluralize } from '../../../core/model/text/words.ts'

/** Refusals that are among the warnings; the matrix has all of them. */
const maxRefusals = 100

/**
 * Builds the page of an apply: what was planned, and how each change ended.
 *
 * @param hasItem tests whether state has an item after the apply; null if that is not known
 */
export function buildApplyPage(
  report: ApplyReport,
  times: PlanTimes,
  about: PageAbout,
  hasItem: ((domain: Domain, item: ItemKey) => boolean) | null,
): Page {
  const { plan, events, status } = report
  const isRunning = status === 'running'
  const { own, back } = splitEvents(events)
  const writes = plan === null ? [] : selectDefinite(plan).writes
  const { refused } = collectOutcomes(isRunning ? [] : writes, own)
  const refusals = refused.slice(0, maxRefusals).map(formatRefusal)
  const rest = refused.length - refusals.length
  const warnings = [
    ...refusals,
    ...(rest > 0 ? [`… and ${pluralize(rest, 'more refusal')}`] : []),
    ...about.warnings,
  ]
  const head = beginPage('apply', formatOutcome(report), { ...about, warnings })
  if (plan === null) return head
  const findState = isRunning ? () => null : findChangeStates(writes, own, back, hasItem)
  const planned = buildPlanned(plan, times, about, findState)
  const rollout = addHealth(events, writes, planned.waves, about.redact)
  if (rollout === null) return { ...head, ...planned }
  const { waves, rollback } = rollout
  return { ...head, ...planned, waves, ...(rollback === null ? {} : { rollback }) }
}

/** Formats the result, the reason of an early end, and the error. */
function formatOutcome(report: ApplyReport): string {
  const { events, status, problem } = report
  const finished = events.findLast((event) => event.type === 'apply.finished')
  const stopped = finished?.stopped ?? null
  return [
    formatResult(report, finished),
    ...(stopped === null ? [] : [isWaiting(status) ? `${stopped}.` : `Stopped: ${stopped}.`]),
    ...(problem === null ? [] : [problem.replaceAll('\n', ' ')]),
  ].join(' ')
}

function formatRefusal({ domains, items, message, place }: Unconfirmed): string {
  const where = place === null ? '' : ` (${place})`
  return `refused: ${items.join(', ')} of ${domains.join(', ')}${where}: ${message}`
}
