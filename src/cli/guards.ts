import { type LoadedWorkspace, type Recorded } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Plan } from '../model/plan.ts'
import { fleetOf, frozen, guardRefusals, type GuardRefusal } from '../plan/guards.ts'
import type { GuardOptions } from './commands/options.ts'
import { refuseUnknownItems } from '../operations/refuse-unknown-items.ts'

/** What the guards of the workspace say against a plan, at this time. */
function refusalsOf(workspace: LoadedWorkspace, recorded: Recorded, plan: Plan, options: GuardOptions, now: number): GuardRefusal[] {
  refuseUnknownItems(options.allow)
  return guardRefusals({
    changes: plan.changes,
    writes: plan.writes,
    guards: workspace.config.guards,
    fleet: fleetOf(recorded, workspace.desired),
    allow: options.allow,
    force: options.force === true,
    now,
  })
}

/** Sentences that a plan says about the guards that would refuse to apply it now. */
export function guardWarnings(workspace: LoadedWorkspace, recorded: Recorded, plan: Plan, now: number): string[] {
  return refusalsOf(workspace, recorded, plan, { allow: [] }, now).map(
    ({ message, wayOut }) => `apply will refuse this plan. ${message}. ${wayOut}`,
  )
}

/**
 * Refuses a plan that a guard of the workspace forbids.
 *
 * @throws EdgewiseError `guarded`, with the numbers and the ways out
 */
export function refuseGuarded(workspace: LoadedWorkspace, recorded: Recorded, plan: Plan, options: GuardOptions, now: number): void {
  const refusals = refusalsOf(workspace, recorded, plan, options, now)
  if (refusals.length === 0) return
  const [first] = refusals
  const message =
    refusals.length === 1
      ? `a guard refuses the plan; nothing was applied: ${first?.message ?? ''}`
      : `${refusals.length} guards refuse the plan; nothing was applied:\n${refusals.map((refusal) => `  ${refusal.message}`).join('\n')}`
  throw new EdgewiseError('guarded', message, [...new Set(refusals.map(({ wayOut }) => wayOut))].join('\n'))
}

/**
 * Refuses to begin a later wave of a plan that the guards let through: time goes by between waves, and nothing else does that guards judge.
 *
 * @throws EdgewiseError `guarded`
 */
export function refuseFrozen({ config }: LoadedWorkspace, now: number): void {
  const [window] = frozen(config.guards.freeze, now)
  if (window !== undefined) throw new EdgewiseError('guarded', window.message, window.wayOut)
}
