import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { measureFleet, checkFreeze, checkGuards, type GuardRefusal } from '../plan/guards.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { refuseUnknownItems } from './refuse-unknown-items.ts'

/** What a request may do over the guards and over open rollouts. */
export interface GuardRequest {
  /** Items whose destructive changes are meant, such as certificate 0. */
  allow?: ItemKey[]
  /** Change more domains or items than `guards.maxDomains` and `guards.maxChanges` let. */
  force?: boolean
  /** End open rollouts of the same domains where they are. */
  supersede?: boolean
}

/** Returns what the guards of the workspace say against a plan at a time, ms since 1970. */
function findRefusals(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  plan: Plan,
  request: GuardRequest,
  now: number,
): GuardRefusal[] {
  const { allow = [], force = false } = request
  refuseUnknownItems(allow)
  return checkGuards({
    changes: plan.changes,
    writes: plan.writes,
    guards: workspace.config.guards,
    fleet: measureFleet(recorded, workspace.desired),
    allow,
    force,
    now,
  })
}

/** Returns sentences about the guards that would refuse to apply a plan now. */
export function listGuardWarnings(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  plan: Plan,
  now: number,
): string[] {
  return findRefusals(workspace, recorded, plan, {}, now).map(
    ({ message, hint }) => `apply will refuse this plan. ${message}. ${hint}`,
  )
}

/**
 * Refuses a plan that a guard of the workspace forbids.
 *
 * @throws EdgewiseError `guarded`, with the numbers and the ways out
 */
export function refuseGuarded(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  plan: Plan,
  request: GuardRequest,
  now: number,
): void {
  const refusals = findRefusals(workspace, recorded, plan, request, now)
  const [first, ...others] = refusals
  if (first === undefined) return
  const message =
    others.length === 0
      ? `a guard refuses the plan; nothing was applied: ${first.message}`
      : `${refusals.length} guards refuse the plan; nothing was applied:\n${refusals.map((refusal) => `  ${refusal.message}`).join('\n')}`
  throw new EdgewiseError(
    'guarded',
    message,
    [...new Set(refusals.map(({ hint }) => hint))].join('\n'),
  )
}

/**
 * Refuses to begin a later wave of a plan that the guards let through: time passes between waves,
 * and nothing else changes that guards judge.
 *
 * @throws EdgewiseError `guarded`
 */
export function refuseFrozen({ config }: LoadedWorkspace, now: number): void {
  const [window] = checkFreeze(config.guards.freeze, now)
  if (window !== undefined) throw new EdgewiseError('guarded', window.message, window.hint)
}
