import type { Override } from '../../core/model/applied.ts'
import type { Guards } from '../../core/model/config.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'

/** What a person overrides, and why. */
export interface OverrideRequest {
  /** Names of soft policies, and `freeze` for freeze windows. */
  overrides?: string[]
  /** Also apply changes that a stopped rollout put on hold. */
  retryHeld?: boolean
  reason?: string
}

/** An action that `guards.reason` may require a reason for. */
export type ReasonedAction = Guards['reason'][number]

/** How messages name the actions. */
const actionNames: Record<ReasonedAction, string> = {
  override: 'an override',
  freeze: 'an apply in a freeze',
  'retry-held': '--retry-held',
  unlock: 'an unlock',
}

/** Maximum length of a reason, characters. */
export const maxReason = 500

/**
 * Refuses a reason that is too long.
 *
 * @throws EdgewiseError `usage`
 */
export function refuseLongReason(reason: string): void {
  if (reason.length > maxReason)
    throw new EdgewiseError(
      'usage',
      `the reason has ${reason.length} characters; expected at most ${maxReason}`,
      'Nothing was done. Shorten the reason.',
    )
}

/**
 * Refuses an action without the reason that `guards.reason` requires.
 *
 * @throws EdgewiseError `usage`
 */
export function requireReason(guards: Guards, action: ReasonedAction, reason = ''): void {
  if (reason.trim() !== '' || !guards.reason.includes(action)) return
  throw new EdgewiseError(
    'usage',
    `${actionNames[action]} needs a reason ("guards.reason" in edgewise.yaml)`,
    'Pass --reason TEXT.',
  )
}

/**
 * Refuses overrides without the reasons that they need, and a reason that is too long.
 *
 * @throws EdgewiseError `usage`
 */
export function checkReasons(guards: Guards, request: OverrideRequest): void {
  const { overrides = [], retryHeld = false, reason = '' } = request
  refuseLongReason(reason)
  if (overrides.includes('freeze')) requireReason(guards, 'freeze', reason)
  if (overrides.some((name) => name !== 'freeze')) requireReason(guards, 'override', reason)
  if (retryHeld) requireReason(guards, 'retry-held', reason)
}

/** Tests whether freeze windows are among what was overridden. */
export function liftsFreeze(overrides: Override[]): boolean {
  return overrides.some(({ policy }) => policy === 'freeze')
}
