import type { Desired, Plannable, Computing } from '../runtime/parts.ts'
import { isConditional } from '../../core/model/change.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Snapshot } from '../../core/model/item.ts'
import { parseJson } from '../../core/model/json.ts'
import type { Plan } from '../../core/model/plan.ts'
import type { Rollout } from '../../core/model/rollout.ts'
import { bindHashes, hashDomains, type PlanOwner } from '../../core/plan/basis.ts'
import {
  parseSavedPlan,
  refuseStale,
  refuseUnreviewed,
  type SavedPlan,
} from '../../core/plan/saved-plan.ts'
import { buildPlanJson } from '../../outlets/report/plan/json.ts'
import { findConflicts } from '../../engine/rollout/conflicts.ts'
import type { RecordedState, TrafficStore } from '../../state/store/store.ts'
import type { Remake } from './compare-secrets.ts'
import { hashDesired } from './hash-desired.ts'
import { selectSnapshots, makePlan, type PlanOptions } from './make-plan.ts'
import type { SelectionRequest } from './select.ts'

/** A plan that can be made again. */
export interface MatchedPlan {
  plan: Plan
  remake: Remake
}

/**
 * Plans the domains of a plan file again, and rejects the file unless both plans are equal.
 *
 * @param text content of the file
 * @throws EdgewiseError `stale-plan`, `usage`
 */
export async function matchSavedPlan(
  workspace: Plannable,
  recorded: RecordedState,
  text: string,
  { target = [], items = [], waves }: SelectionRequest & { waves: boolean },
  store: Pick<TrafficStore, 'loadTraffic'>,
  options: PlanOptions,
  outside: Computing,
): Promise<MatchedPlan> {
  if (target.length + items.length > 0)
    throw new EdgewiseError(
      'usage',
      'a saved plan already selects its domains and items',
      'Omit --target and --item.',
    )
  const { itemKeys } = workspace.config.service
  const saved = parseSavedPlan(parseJson(text))
  // Plans are compared in waves; an apply without waves sends the same writes at once.
  const { secrets } = saved
  const asOf = saved.traffic === null ? undefined : Date.parse(saved.traffic.at)
  const traffic = await store.loadTraffic(asOf)
  const planOptions: PlanOptions = { ...options, atOnce: false, saved: secrets, traffic }
  const make = (own: PlanOptions) => makePlan(workspace, recorded, saved.selection, own, outside)
  const current = await make(planOptions)
  const snapshots = selectSnapshots(workspace, recorded, saved.selection, secrets)
  const { id, service } = workspace.config
  const owner = { id, address: service.url, writtenAddress: service.writtenUrl }
  const open = findContinued(current, planOptions, workspace)
  if (isContinuing(saved, snapshots.references, open, owner)) refuseUnreviewed(saved, current)
  else
    refuseStale(
      saved,
      current,
      buildPlanJson(current, (key) => itemKeys[key] ?? key),
      snapshots,
      owner,
    )
  const fit = (plan: Plan) => (waves ? plan : joinWaves(plan))
  return {
    plan: fit(current),
    remake: async (differs) => fit(await make({ ...planOptions, differs })),
  }
}

/** Returns a plan with all writes in one wave. */
function joinWaves(plan: Plan): Plan {
  const { definite } = plan
  return {
    ...plan,
    writes: plan.writes.map((write) => ({ ...write, wave: 1 })),
    definite: definite && joinWaves(definite),
  }
}

function findContinued(
  current: Plan,
  { rollouts = [] }: PlanOptions,
  workspace: Desired,
): Rollout | null {
  const domains = new Set(current.changes.map(({ domain }) => domain))
  return findConflicts(domains, current.basis, rollouts, hashDesired(workspace).hashDomain)
    .continued
}

/**
 * Returns whether the plan of the file is an open rollout with waves left to send. A domain with
 * conditional changes only is not in the rollout if none of them was sent.
 */
function isContinuing(
  { desired: planned, reviewed }: SavedPlan,
  references: Snapshot,
  open: Rollout | null,
  owner: PlanOwner,
): boolean {
  if (open === null) return false
  const changes = [...reviewed.values()]
  const definite = changes.filter((change) => !isConditional(change))
  const isComplete =
    Object.keys(open.desiredHashes).every((domain) => Object.hasOwn(planned, domain)) &&
    definite.every(({ domain }) => Object.hasOwn(open.desiredHashes, domain))
  const hashesNow = bindHashes(hashDomains(references, Object.keys(planned)), owner)
  return isComplete && Object.entries(planned).every(([domain, hash]) => hashesNow[domain] === hash)
}
