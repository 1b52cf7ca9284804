import type { Comparable, Configured, Plannable } from './runtime/parts.ts'
import { listPastApplies, maxRevertChanges } from './history/past-applies.ts'
import type { RecordedState } from '../state/store/store.ts'
import { addKeptFields } from '../core/diff/kept-fields.ts'
import type { Plan, PlanTimes } from '../core/model/plan.ts'
import { bindBasis } from '../core/plan/basis.ts'
import { findUnfinished } from '../engine/rollout/conflicts.ts'
import { findAuthor } from './submission/find-author.ts'
import {
  listFirstPlanWarnings,
  listLateNotes,
  listUnsharedNotes,
} from './submission/first-plan-warnings.ts'
import { listGuardWarnings, listTrafficWarnings } from './submission/guards.ts'
import { makePlan } from './submission/make-plan.ts'
import {
  judgePlan,
  listPolicyWarnings,
  listUsedExceptions,
  openPolicies,
  type PolicedPlan,
} from './submission/policies.ts'
import { narrowDomains } from '../core/plan/selection.ts'
import { markOlder } from './submission/older-values.ts'
import { loadState } from './runtime/open-state.ts'
import { restrain } from './policies/restrain.ts'
import type { Ports } from './runtime/ports.ts'
import { refuseEmpty } from './runtime/refuse-invalid.ts'
import { listManaged, refuseOwnedElsewhere } from './submission/refuse-owned-elsewhere.ts'
import { checkMoves } from './history/renamed-domains.ts'
import { noteStop } from './submission/account-stop.ts'
import { select, type SelectionRequest } from './submission/select.ts'
import {
  describeForeignRelease,
  findForeignRelease,
  releaseHint,
} from './submission/foreign-release.ts'
import type { Change, Write } from '../core/model/change.ts'
import type { Effects } from '../core/effects/group.ts'
import type { ChangedSides } from '../outlets/report/effects/pack-sides.ts'
import type { EffectsRequest } from './tracing/effects.ts'
import type { Assumptions } from './tracing/candidates.ts'
import type { Witnesses } from '../outlets/report/effects/witnesses.ts'
import { computeTimes } from '../core/plan/plan-times.ts'

/** Options of a plan. */
export interface PlanRequest extends SelectionRequest {
  /** Requests that are compared before and after the changes. */
  effects?: EffectsRequest | null
  /** Readings with which a witness of each kind of change is looked for. */
  witnesses?: Assumptions | null
}

/** Plan and its notes. */
export interface Planned {
  plan: Plan
  /** Null unless asked for. */
  effects: Effects | null
  witnesses: Witnesses | null
  /** In what the effects of other requests are found; null without effects and witnesses. */
  sides: ChangedSides | null
  /** What policies find; null without any. */
  policies: PolicedPlan | null
  /** Notes about the state that the plan is based on. */
  notes: string[]
  /** True if the rollback of a rollout is unfinished: part of its change is still live. */
  rollbackUnfinished: boolean
}

/**
 * Plans the changes, and the fewest writes found for them. Writes neither to the service nor to
 * state, and needs no token.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` when nothing is selected,
 * `owned-elsewhere` when a domain belongs to another workspace
 */
export async function plan(
  loaded: Plannable,
  request: PlanRequest,
  { outside }: Pick<Ports, 'outside'>,
): Promise<Planned> {
  refuseEmpty(loaded)
  const { store, recorded, accountStop } = await loadState(loaded, outside, true)
  const workspace = await restrain(loaded, store)
  const selection = select(request, workspace, recorded)
  const [rollouts, traffic] = await Promise.all([store.listRollouts(), store.loadTraffic()])
  const loadPast = () => listPastApplies(store, recorded, maxRevertChanges)
  const options = { rollouts, traffic, loadPast }
  const [unmarked, stopped] = await Promise.all([
    makePlan(workspace, recorded, selection, options, outside),
    noteStop(accountStop),
  ])
  const foreign = await findForeignRelease(workspace, store, recorded)
  const by = { author: findAuthor(outside), foreign }
  const made = await markOlder(workspace, store, recorded, unmarked, by)
  await refuseOwnedElsewhere(workspace, store, listManaged(made))
  const desired = addKeptFields(workspace.desired, recorded)
  const judged = narrowDomains(desired, selection.target)
  const policies = await openPolicies({ ...workspace, desired }, outside)
  const policed = await judgePlan(workspace, policies, { plan: made, configs: judged })
  const warnings = [
    ...(foreign === null
      ? []
      : [`apply will refuse this plan. ${describeForeignRelease(foreign)}. ${releaseHint}`]),
    ...workspace.loosened,
    ...made.warnings,
    ...listGuardWarnings(workspace, recorded, made, outside.clock.now()),
    ...listTrafficWarnings(made, outside.clock.now()),
    ...(policed === null ? [] : listPolicyWarnings(policed)),
  ]
  const { id, service } = workspace.config
  const found = await findAllEffects(workspace, recorded, made.changes, request)
  return {
    ...found,
    policies: policed,
    plan: {
      ...made,
      changes: await markChanges(made.changes, found),
      warnings,
      basis: bindBasis(made.basis, { id, address: service.url }),
    },
    notes: [
      ...stopped,
      ...(await checkMoves(workspace, store)),
      ...(await listFirstPlanWarnings(workspace, store, recorded)),
      ...(await listUnsharedNotes(store)),
      ...listLateNotes(recorded),
      ...(await noteWaveEffects(made, found)),
      ...(policed === null ? [] : listUsedExceptions(policed)),
    ],
    rollbackUnfinished: findUnfinished(rollouts).length > 0,
  }
}

/** Finds what a plan does to requests, as far as it is asked for. */
async function findAllEffects(
  workspace: Comparable,
  recorded: RecordedState,
  changes: Change[],
  { effects = null, witnesses = null }: PlanRequest,
): Promise<Pick<Planned, 'effects' | 'witnesses' | 'sides'>> {
  const readings = effects ?? witnesses
  if (readings === null) return { effects: null, witnesses: null, sides: null }
  const { findEffects } = await import('./tracing/effects.ts')
  const { findWitnesses } = await import('./tracing/witnesses.ts')
  const { listChangedSides } = await import('./tracing/effects.ts')
  return {
    effects: effects && findEffects(workspace, recorded, changes, effects),
    witnesses: witnesses && findWitnesses(workspace, recorded, changes, witnesses),
    sides: listChangedSides(workspace, recorded, changes, readings),
  }
}

async function markChanges(
  changes: Change[],
  { witnesses }: Pick<Planned, 'witnesses'>,
): Promise<Change[]> {
  if (witnesses === null) return changes
  const { markWithoutEffect } = await import('./tracing/witnesses.ts')
  return markWithoutEffect(changes, witnesses)
}

async function noteWaveEffects(
  made: Pick<Plan, 'writes'>,
  { effects }: Pick<Planned, 'effects'>,
): Promise<string[]> {
  if (effects === null) return []
  const { describeWaveEffects } = await import('../outlets/report/effects/wave-effects.ts')
  return describeWaveEffects(made, effects)
}

/** Computes when writes are sent at the earliest. `atOnce`: without the waits of a rollout. */
export function computePlanTimes(
  writes: Write[],
  { config }: Configured,
  atOnce: boolean,
): PlanTimes {
  return computeTimes(writes, { ...config.limits, rollout: atOnce ? null : config.rollout })
}
