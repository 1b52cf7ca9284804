import { isAllConfirmed, type ApplyResult } from '../../engine/apply/run.ts'
import type { Override } from '../../core/model/applied.ts'
import type { ApplyEvent, Doubt } from '../../core/model/events.ts'
import type { Actor } from '../../core/model/people/identity.ts'
import type { Plan } from '../../core/model/plan.ts'
import { failSpan, getRoot } from '../../core/model/telemetry.ts'
import { narrowDomains } from '../../core/plan/selection.ts'
import type { FinishedStatus } from '../../outlets/report/apply/text.ts'
import type { RecordedState } from '../../state/store/store.ts'

export type ApplyFinished = Extract<ApplyEvent, { type: 'apply.finished' }>

/** Result of executing a plan. */
export interface Executed {
  /** The planned writes, without conditional changes. */
  plan: Plan
  result: ApplyResult
  /** Last event; absent if nothing began. */
  finished?: ApplyFinished
  /** In-doubt writes, also those that were not sent if that could not be recorded. */
  doubts: Doubt[]
  /**
   * - `done`: everything planned is confirmed and recorded.
   * - `not-begun`: not everything is confirmed, and nothing was sent.
   * - `incomplete`: not everything is confirmed, and something was sent, now or by an earlier wave.
   * - `waiting`: a rollout stopped before a wave that needs approval, because it is paused, or
   *   where it has to wait; everything sent so far is confirmed.
   */
  status: 'done' | 'not-begun' | 'incomplete' | 'waiting'
  inWaves: boolean
  /** Who has executed it. */
  by: Actor
  /** What was overridden; absent for none. */
  overrides?: Override[]
  /** False if it was read back otherwise than it was sent, or could not be read back. */
  isVerified?: boolean
}

/** Determines the status of an executed plan; `sentBefore`: an earlier apply has sent writes. */
export function determineStatus(
  result: ApplyResult,
  { basis }: Plan,
  inWaves: boolean,
  sentBefore: boolean,
): Executed['status'] {
  const { refused, unrecorded, stopped, waitsFor } = result
  if (waitsFor !== undefined) return 'waiting'
  const incomplete =
    !isAllConfirmed(result, result.parts) || unrecorded !== null || (inWaves && stopped !== null)
  if (!incomplete) return 'done'
  if (result.sent || sentBefore) return 'incomplete'
  // The service accepted no call. What an earlier apply left in-doubt stays so. In-doubt
  // items of other domains may come from another apply that runs now.
  const selected = narrowDomains(result.recorded, basis.target)
  return refused > 0 && hasInDoubt(selected) ? 'incomplete' : 'not-begun'
}

function hasInDoubt(recorded: RecordedState): boolean {
  return [...recorded.values()].some((items) =>
    [...items.values()].some(({ status }) => status === 'in-doubt'),
  )
}

/** Finds the status of an apply by what is confirmed, recorded and shared. */
export function findStatus({
  status,
  result,
  isVerified,
}: Pick<Executed, 'status' | 'result' | 'isVerified'>): FinishedStatus {
  if (status === 'done') return status
  if (result.waitsFor !== undefined) return result.waitsFor
  const isWhole = isAllConfirmed(result, result.parts)
  if (isVerified === false && isWhole && result.stopped === null) return 'unverified'
  if (result.unrecorded === null) return 'incomplete'
  return result.unshared ? 'unshared' : 'unrecorded'
}

/** Adds the outcome of an executed plan to the trace, without messages: they may quote values. */
export function traceExecuted({ plan, result, status, finished }: Executed): void {
  const { commit } = plan.basis
  const root = getRoot()
  root?.setAttributes({
    'edgewise.status': status,
    'edgewise.changes': plan.changes.length,
    'edgewise.writes': plan.writes.length,
    'edgewise.writes.confirmed': result.confirmed,
    'edgewise.writes.refused': result.refused,
    'edgewise.writes.in_doubt': result.inDoubt,
    'edgewise.writes.not_sent': result.notSent,
    ...(finished === undefined ? {} : { 'edgewise.apply': finished.apply }),
    ...(commit === null ? {} : { 'edgewise.commit': commit }),
  })
  if (status === 'incomplete' || status === 'not-begun') failSpan(root, status)
}
