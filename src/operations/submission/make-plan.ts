import type { Configured, Desired, Secrets, Plannable, Computing } from '../runtime/parts.ts'
import { diffSnapshots, splitItems } from '../../core/diff/diff-snapshots.ts'
import { listStays } from '../../core/diff/kept-fields.ts'
import { replaceKnownSecrets, representSecrets } from '../../core/diff/known-secrets.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import { isConditional, type Change } from '../../core/model/change.ts'
import type { Domain, Snapshot } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import { findReference, listReferencedNames } from '../../core/model/secret.ts'
import { describeTree, type SourceTree } from '../../core/model/source-tree.ts'
import { noTraffic, type TrafficProfile } from '../../core/model/traffic.ts'
import { inSpan } from '../../core/model/telemetry.ts'
import { computeImpact } from '../../core/plan/impact.ts'
import type { SavedSecrets } from '../../core/plan/saved-plan.ts'
import { makePlan as planWrites, type PlanInput } from '../../core/plan/make-plan.ts'
import {
  narrowDomains,
  narrowSnapshot,
  type Selection,
  settleConditional,
} from '../../core/plan/selection.ts'
import { findStop, listUnapproved } from '../../engine/rollout/approvals.ts'
import {
  findConflicts,
  findItemsOnHold,
  type HashItem,
  mapDomainsToWaves,
  type PlanSelection,
  type RolloutConflicts,
  describeOnHold,
  describeUnfinished,
} from '../../engine/rollout/conflicts.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { RolloutConfig } from '../../core/model/config.ts'
import type { PastApplies } from '../history/find-revert.ts'
import { listMovedNotes } from './first-plan-warnings.ts'
import { hashDesired } from './hash-desired.ts'
import { continueRollout } from '../../engine/rollout/waves.ts'
import { describeIrreversible, findIrreversible } from './irreversible.ts'
import { loadSolver } from '../runtime/load-solver.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'
import { judgeForPlan, refuseInvalid } from '../runtime/refuse-invalid.ts'
import { withPool } from '../runtime/with-pool.ts'

/** Options of a plan. */
export interface PlanOptions {
  /** Stored rollouts: their items on hold are skipped, and an open rollout keeps its waves. */
  rollouts?: Rollout[]
  /** Figures of traffic; absent: none are known. */
  traffic?: TrafficProfile
  /** Also plan items on hold. */
  retryHeld?: boolean
  /** Plan without waves. */
  atOnce?: boolean
  /** Loads where `rollout.revert: fast` looks for earlier values; absent: nothing is fast. */
  loadPast?(): Promise<PastApplies>
  /** Tests whether to plan a change; absent: all of the selection. */
  isPlanned?(change: Change): boolean
  /** References of secrets that a plan file has in another form; absent for a new plan. */
  saved?: SavedSecrets
  /** Tests whether a conditional change differs; absent as long as that is not known. */
  differs?(change: Change): boolean
}

/**
 * Plans the changes, and the fewest writes found for them. Uses manifests and recorded state, and
 * writes nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error
 */
export async function makePlan(
  workspace: Plannable,
  recorded: RecordedState,
  selection: Selection,
  options: PlanOptions,
  outside: Computing,
): Promise<Plan> {
  return inSpan('plan', async (span) => {
    const plan = await planChanges(workspace, recorded, selection, options, outside)
    const [changes, writes] = [plan.changes.length, plan.writes.length]
    span?.setAttributes({ 'edgewise.changes': changes, 'edgewise.writes': writes })
    return plan
  })
}

/** Changes, and the open rollouts that they affect. */
type Matched = RolloutConflicts & { changes: Change[] }

async function planChanges(
  workspace: Plannable,
  recorded: RecordedState,
  selection: Selection,
  request: PlanOptions,
  outside: Computing,
): Promise<Plan> {
  const { rollouts = [], retryHeld = false, saved, isPlanned, differs } = request
  const { itemKeys, unset } = workspace.config.service
  const { loosened = [] } = workspace
  refuseInvalid(await judgeForPlan(workspace), undefined, loosened.join('\n') || undefined)
  outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
  const chosen = selectSnapshots(workspace, recorded, selection, saved)
  const { hashDomain, hashItem } = hashDesired(workspace)
  const itemsOnHold = findItemsOnHold(retryHeld ? [] : rollouts, hashItem)
  const { others: recordedState, chosen: knownOnHold } = splitItems(chosen.recorded, itemsOnHold)
  const { others: desiredState, chosen: wantedOnHold } = splitItems(chosen.desired, itemsOnHold)
  const described = describeOnHold(knownOnHold, wantedOnHold, itemsOnHold, itemKeys)
  const { changes: allChanges, unchanged } = diffSnapshots(
    recordedState,
    desiredState,
    itemKeys,
    unset,
  )
  const notes = [...listMovedNotes(workspace, allChanges), ...described.notes]
  const onHold = { ...described, notes }
  const planned = isPlanned === undefined ? allChanges : allChanges.filter(isPlanned)
  const chosenChanges = { ...selection, isPart: isPlanned !== undefined }
  const match = (changes: Change[]) => matchRollouts(changes, chosenChanges, rollouts, hashDomain)
  const tree = await workspace.findTree()
  const make = (matched: Matched, own: PlanOptions = request) =>
    planMatched(
      workspace,
      matched,
      {
        recorded: recordedState,
        desired: desiredState,
        basis: { recorded: chosen.recorded, desired: chosen.references },
        unchanged,
        target: [...selection.target],
        items: [...selection.items],
        ...tree,
      },
      onHold,
      own,
      outside,
    )
  const all = match(differs === undefined ? planned : settleConditional(planned, differs))
  const made = await make(all)
  if (made.summary.conditional === 0)
    return planRevert(workspace.config.rollout, made, all, request, hashItem, make)
  const certain = match(settleConditional(all.changes, () => false))
  const definite = await make(certain)
  const possible = all.conflicting.filter((rollout) => !certain.conflicting.includes(rollout))
  return {
    ...made,
    definite,
    warnings: [...definite.warnings, ...describeConflicts(possible, 'may')],
  }
}

/** Plans a revert at once if the workspace wants it, and no wave of it needs approval. */
async function planRevert(
  { revert, approval, health }: RolloutConfig,
  made: Plan,
  matched: Matched,
  request: PlanOptions,
  hashItem: HashItem,
  make: (matched: Matched, own: PlanOptions) => Promise<Plan>,
): Promise<Plan> {
  const { continued } = matched
  const { rollouts = [], loadPast, atOnce = false, retryHeld = false, differs } = request
  const isOpen = continued !== null || retryHeld || differs !== undefined
  if (revert === 'waves' || loadPast === undefined || atOnce || isOpen) return made
  const needsApproval = approval.length > 0 || made.approvals !== undefined
  const isOne = made.waves === undefined && health === null
  if (needsApproval || isOne || made.changes.length === 0) return made
  const { findRevert } = await import('../history/find-revert.ts')
  const found = await findRevert(made.changes, { loadPast, rollouts, hashItem })
  if (found === null) return made
  const plan = found.isWhole ? await make(matched, { ...request, atOnce: true }) : made
  const warnings = [found.note, ...plan.warnings]
  return { ...plan, warnings, ...(found.isWhole ? { reverts: true } : {}) }
}

/** Notes changes that are not committed. */
function describeDirt(tree: SourceTree): string[] {
  return tree.onTopOf === undefined ? [] : [`manifests have ${describeTree(tree) ?? ''}`]
}

/** Plans these changes, which may be those of an open rollout. */
async function planMatched(
  workspace: Configured & Secrets,
  { changes, continued, conflicting }: Matched,
  input: Pick<
    PlanInput,
    'recorded' | 'desired' | 'basis' | 'unchanged' | 'target' | 'items' | 'commit'
  >,
  onHold: ReturnType<typeof describeOnHold>,
  request: PlanOptions,
  outside: Computing,
): Promise<Plan> {
  const { rollouts = [], atOnce = false, traffic = noTraffic } = request
  const { config } = workspace
  const { waves: amounts, approval, approvalAbove: percent, by } = config.rollout
  const above = percent === undefined ? undefined : { percent, traffic }
  if (changes.length > 0) outside.onPhase?.({ name: 'planning' })
  const made = await runPlanner(config, outside, {
    ...input,
    progress: (done, total) => outside.onPhase?.({ name: 'planning', done, total }),
    changes,
    stays: request.isPlanned === undefined ? listStays(input.recorded, input.desired) : [],
    ...(atOnce
      ? {}
      : {
          rollout: config.rollout,
          traffic,
          waves:
            continued === null
              ? { amounts, approval, by, above }
              : { waveByDomain: mapDomainsToWaves(continued) },
        }),
  })
  const irreversible = findIrreversible(workspace, made.changes, input.recorded)
  const warns = !atOnce && config.rollout.health?.onFailure === 'rollback'
  const warnings = [
    ...describeDirt(made.basis),
    ...onHold.notes,
    ...describeUnfinished(rollouts),
    ...describeOpenRollouts(continued, conflicting),
    ...(warns && irreversible.length > 0
      ? [`a failed health check can't roll back ${describeIrreversible(irreversible)}`]
      : []),
    ...made.warnings,
  ]
  const awaited =
    continued === null || atOnce
      ? []
      : listUnapproved(continueRollout(continued, made), made.writes)
  const written = made.writes.flatMap(({ domains }) => domains)
  return {
    ...made,
    awaited: awaited.length === 0 ? undefined : awaited,
    impact: computeImpact(written, traffic),
    onHold: onHold.domains.length === 0 ? undefined : onHold.domains,
    irreversible: irreversible.length === 0 ? undefined : irreversible,
    summary: { ...made.summary, held: onHold.changes },
    warnings,
  }
}

/** Plans the writes of changes with the settings of the workspace, in several threads. */
export async function runPlanner(
  { rollout, service, grouping, limits }: LoadedWorkspace['config'],
  outside: Computing,
  input: Omit<
    PlanInput,
    'solver' | 'parallel' | 'first' | 'itemKeys' | 'deletes' | 'grouping' | 'limits'
  >,
): Promise<Plan> {
  const { itemKeys, unset: deletes } = service
  // A single change is a single write, without a need for the large solver.
  const isSingle = input.changes.length < 2
  const solver = isSingle
    ? null
    : outside.solver === undefined
      ? await loadSolver()
      : outside.solver
  const settings = { first: rollout.first, itemKeys, deletes, grouping, limits }
  return withPool(outside, (parallel) => planWrites({ ...input, ...settings, solver, parallel }))
}

/** Describes how open rollouts affect a plan. */
function describeOpenRollouts(continued: Rollout | null, conflicting: Rollout[]): string[] {
  if (continued !== null)
    return [`this plan resumes ${nameRollout(continued)}, which ${describeStop(continued)}`]
  return describeConflicts(conflicting, 'will')
}

/** @param will whether the plan changes some of their domains for certain */
function describeConflicts(conflicting: Rollout[], will: 'will' | 'may'): string[] {
  const condition = will === 'will' ? '' : ', if secrets differ'
  return conflicting.map(
    (rollout) =>
      `apply ${will} refuse this plan${condition}: some of its domains are in ` +
      `${nameRollout(rollout)}, which ${describeStop(rollout)}; "edgewise rollout abort ` +
      `${rollout.id}" ends it`,
  )
}

function nameRollout(rollout: Rollout): string {
  const wave = (findCurrentWave(rollout) ?? 0) + 1
  return `rollout ${rollout.id} (wave ${wave} of ${rollout.waves.length})`
}

function describeStop(rollout: Rollout): string {
  const stop = findStop(rollout, findCurrentWave(rollout) ?? 0)
  if (stop === null) return 'is open'
  return stop === 'paused'
    ? `is paused: "edgewise rollout resume ${rollout.id}"`
    : `waits for approval: "edgewise rollout approve ${rollout.id}"`
}

/**
 * Selects parts of recorded state, of desired state with available secrets resolved, and of desired
 * state as references.
 *
 * @param saved as in `PlanOptions`
 */
export function selectSnapshots(
  workspace: Desired & Secrets,
  recorded: RecordedState,
  selection: Selection,
  saved?: SavedSecrets,
): { recorded: Snapshot; desired: Snapshot; references: Snapshot } {
  const narrow = (snapshot: Snapshot): Snapshot =>
    selection.items.length === 0
      ? narrowDomains(snapshot, selection.target)
      : narrowSnapshot(snapshot, selection)
  const references = narrow(workspace.desired)
  return {
    recorded: narrow(recorded),
    desired: resolveAvailable(references, workspace.vault, recorded, saved),
    references,
  }
}

/**
 * Resolves the available secrets, except those that a plan file treats as unknown. A secret that
 * was known when the file was made and is not available now counts as recorded.
 */
function resolveAvailable(
  references: Snapshot,
  vault: SecretVault,
  recorded: RecordedState,
  saved: SavedSecrets | undefined,
): Snapshot {
  const desired = representSecrets(references, recorded, (secret, known) => {
    const reference = findReference(secret) ?? ''
    return saved?.unknown.has(reference) === true
      ? secret
      : vault.represent(secret, known, saved?.fresh.has(reference))
  })
  if (saved === undefined) return desired
  const { unknown } = saved
  const wasKnown = (reference: string) =>
    !unknown.has(reference) && !listReferencedNames(reference).some((name) => vault.isCommand(name))
  return replaceKnownSecrets(desired, recorded, wasKnown)
}

/**
 * Finds the open rollouts that affect changes. A plan that resumes a rollout has conditional
 * changes in its remaining waves only: the others belong to the next plan.
 */
function matchRollouts(
  changes: Change[],
  selection: PlanSelection,
  rollouts: Rollout[],
  hashDomain: (domain: Domain) => string,
): Matched {
  const find = (own: Change[]) =>
    findConflicts(new Set(own.map(({ domain }) => domain)), selection, rollouts, hashDomain)
  const { continued } = find(changes.filter((change) => !isConditional(change)))
  if (continued === null) return { ...find(changes), changes }
  const remaining = new Set(
    continued.waves.flatMap(({ domains, passed }) => (passed ? [] : domains)),
  )
  return {
    continued,
    conflicting: [],
    passed: [],
    changes: changes.filter((change) => !isConditional(change) || remaining.has(change.domain)),
  }
}
