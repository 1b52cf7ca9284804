import { isAllConfirmed } from '../apply/counts.ts'
import type { FinishedStatus } from '../report/apply/text.ts'
import type { Executed } from './submit-plan.ts'

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
