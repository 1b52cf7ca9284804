import type { FinishedStatus } from '../report/apply/text.ts'
import type { Executed } from './submit-plan.ts'

/** Finds the status of an apply by what is confirmed, recorded and shared. */
export function findStatus({
  status,
  result,
}: Pick<Executed, 'status' | 'result'>): FinishedStatus {
  if (status === 'done') return status
  if (result.waitsFor !== undefined) return result.waitsFor
  if (result.unrecorded === null) return 'incomplete'
  return result.unshared ? 'unshared' : 'unrecorded'
}
