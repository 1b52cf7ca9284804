import type { Configured, Desired } from '../runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { ItemKey } from '../../core/model/item.ts'
import { selectDefinite, type Plan } from '../../core/model/plan.ts'
import {
  measureFleet,
  checkFreeze,
  checkGuards,
  findLift,
  type GuardRefusal,
} from '../../core/plan/guards.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { Override } from '../../core/model/applied.ts'
import type { OverrideRequest } from './reasons.ts'
import { refuseUnknownItems } from './select.ts'

/** Overrides of guards. */
export interface GuardRequest extends OverrideRequest {
  /** Items with allowed destructive changes, such as removing the certificate. */
  allow?: ItemKey[]
  /** Exceed `guards.maxDomains`, `guards.maxChanges` and `guards.maxTraffic`. */
  force?: boolean
  /** Go back to older values, see `markOlder`. */
  allowOlder?: boolean
  /** Release items although another workspace has applied the state until now. */
  allowRelease?: boolean
}

/** Returns the guard refusals of a plan at `now`, ms since 1970. */
function findRefusals(
  workspace: Configured & Desired,
  recorded: RecordedState,
  plan: Plan,
  request: GuardRequest,
  now: number,
): GuardRefusal[] {
  const { allow = [] } = request
  refuseUnknownItems(allow)
  return checkGuards({
    changes: plan.changes,
    writes: plan.writes,
    guards: workspace.config.guards,
    moved: workspace.config.moved,
    fleet: measureFleet(recorded, workspace.desired),
    impact: plan.impact,
    allow,
    now,
  })
}

/**
 * Lists warnings about guards that would refuse to apply a plan now, or may do so: only an apply
 * knows which conditional changes differ.
 */
export function listGuardWarnings(
  workspace: Configured & Desired,
  recorded: RecordedState,
  plan: Plan,
  now: number,
): string[] {
  if (plan.changes.length + plan.writes.length === 0) return []
  const find = (part: Plan) => findRefusals(workspace, recorded, part, {}, now)
  const certain = find(selectDefinite(plan))
  const guards = new Set(certain.map(({ guard }) => guard))
  const possible = find(plan).filter(({ guard }) => !guards.has(guard))
  return [
    ...certain.map(({ message, hint }) => `apply will refuse this plan. ${message}. ${hint}`),
    ...possible.map(
      ({ message, hint }) => `apply may refuse this plan, if secrets differ. ${message}. ${hint}`,
    ),
  ]
}

/** Age above which figures of traffic are called old, ms. */
const maxTrafficAgeMs = 2 * 86_400_000

/** Warns that the figures of the traffic of a plan are old. */
export function listTrafficWarnings({ impact }: Plan, now: number): string[] {
  const ageMs = now - (impact?.countedAt ?? now)
  if (ageMs <= maxTrafficAgeMs) return []
  const days = pluralize(Math.floor(ageMs / 86_400_000), 'day')
  return [`figures of traffic are up to ${days} old; "edgewise stats --refresh" counts again`]
}

/**
 * Refuses a plan that a guard of the workspace forbids.
 *
 * @returns the guards that had to be overridden
 * @throws EdgewiseError `guarded`, with the numbers and the ways to proceed
 */
export function refuseGuarded(
  workspace: Configured & Desired,
  recorded: RecordedState,
  plan: Plan,
  request: GuardRequest,
  now: number,
): Override[] {
  const { reason = '', force = false, overrides = [] } = request
  const isLifted = { '--force': force, freeze: overrides.includes('freeze'), none: false }
  const all = findRefusals(workspace, recorded, plan, request, now)
  const refusals = all.filter((each) => !isLifted[findLift(each)])
  const [first, ...others] = refusals
  if (first === undefined) {
    const used = new Set(all.toReversed().map(findLift))
    return Array.from(used, (policy) => ({ policy, reason }))
  }
  const lines = refusals.map((refusal) => `  ${refusal.message}`)
  const message =
    others.length === 0
      ? `a guard refuses the plan; nothing was applied: ${first.message}`
      : [`${refusals.length} guards refuse the plan; nothing was applied:`, ...lines].join('\n')
  throw new EdgewiseError(
    'guarded',
    message,
    [...new Set(refusals.map(({ hint }) => hint))].join('\n'),
  )
}

/**
 * Refuses to begin a later wave during a freeze. The other guards do not depend on time, so they
 * are not checked again.
 *
 * @throws EdgewiseError `guarded`
 */
export function refuseFrozen({ config }: Configured, now: number): void {
  const [window] = checkFreeze(config.guards.freeze, now)
  if (window !== undefined) throw new EdgewiseError('guarded', window.message, window.hint)
}
