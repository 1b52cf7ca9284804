import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { splitDomains } from '../diff/split-domains.ts'
import { replaceKnownSecrets } from '../diff/known-secrets.ts'
import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, Snapshot } from '../model/item.ts'
import type { Effort, Plan } from '../model/plan.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import { makePlan as planWrites } from '../plan/make-plan.ts'
import { narrowSnapshot, type Selection } from '../plan/selection.ts'
import { findDomainsOnHold, findConflicts, mapDomainsToWaves } from '../rollout/conflicts.ts'
import type { RecordedState } from '../state/store.ts'
import { hashDesired } from './hash-desired.ts'
import { describeOnHold, describeUnfinished } from '../rollout/on-hold.ts'
import { listIrreversibleWarnings } from './irreversible.ts'
import { resolveSolver } from './load-solver.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'

/** Options of a plan. */
export interface PlanOptions {
  effort?: Effort
  explain?: boolean
  /** Stored rollouts: their domains on hold are skipped, and an open rollout keeps its waves. */
  rollouts?: Rollout[]
  /** Also plan domains on hold. */
  retryHeld?: boolean
  /** Plan without waves. */
  atOnce?: boolean
  /** Reports progress of a long search for fewer writes: steps made, and their maximum. */
  progress?(made: number, all: number): void
}

/**
 * Plans the changes, and the fewest writes found for them. Uses manifests and recorded state, and
 * writes nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error
 */
export async function makePlan(
  workspace: LoadedWorkspace,
  recorded: RecordedState,
  selection: Selection,
  { rollouts = [], retryHeld = false, atOnce = false, ...options }: PlanOptions,
  outside: Outside,
): Promise<Plan> {
  const { config } = workspace
  if (workspace.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new EdgewiseError(
      'invalid',
      'the manifests have errors',
      'Run "edgewise validate".',
      workspace.diagnostics,
    )
  }
  const chosen = selectSnapshots(workspace, recorded, selection)
  const hashDomain = hashDesired(workspace)
  const onHoldDomains = retryHeld
    ? new Map<Domain, Rollout>()
    : findDomainsOnHold(rollouts, hashDomain)
  const { others: recordedState, chosen: knownOnHold } = splitDomains(
    chosen.recorded,
    onHoldDomains,
  )
  const { others: desiredState, chosen: wantedOnHold } = splitDomains(chosen.desired, onHoldDomains)
  const onHold = describeOnHold(knownOnHold, wantedOnHold, onHoldDomains)
  const difference = diffSnapshots(recordedState, desiredState)
  const changed = new Set(difference.changes.map(({ domain }) => domain))
  const { continued, conflicting } = findConflicts(changed, selection, rollouts, hashDomain)
  const made = planWrites({
    ...options,
    recorded: recordedState,
    desired: desiredState,
    ...difference,
    first: config.rollout.first,
    // A single change is a single write, without a need for the large solver.
    ...(difference.changes.length > 1 ? { solver: await resolveSolver(outside) } : {}),
    grouping: config.grouping,
    limits: config.limits,
    target: [...selection.target],
    items: [...selection.items],
    commit: await workspace.findCommit(),
    ...(atOnce
      ? {}
      : {
          waves:
            continued === null
              ? { amounts: config.rollout.waves }
              : { waveByDomain: mapDomainsToWaves(continued) },
        }),
  })
  const warnings = [
    ...onHold.notes,
    ...describeUnfinished(rollouts),
    ...describeOpenRollouts(continued, conflicting),
    ...(atOnce ? [] : listIrreversibleWarnings(workspace, made.changes, recordedState)),
    ...made.warnings,
  ]
  return { ...made, summary: { ...made.summary, held: onHold.changes }, warnings }
}

/** Describes how open rollouts affect a plan. */
function describeOpenRollouts(continued: Rollout | null, conflicting: Rollout[]): string[] {
  const describe = (rollout: Rollout) =>
    `rollout ${rollout.id} (wave ${(findCurrentWave(rollout) ?? 0) + 1} of ${rollout.waves.length})`
  if (continued !== null) return [`this plan resumes ${describe(continued)}, which is open`]
  return conflicting.map(
    (rollout) =>
      `apply will refuse this plan: ${describe(rollout)} is open on some of its domains; ` +
      'see --supersede',
  )
}

/** Selects parts of recorded and desired state; unavailable secrets count as unchanged. */
export function selectSnapshots(
  workspace: Workspace,
  recorded: RecordedState,
  selection: Selection,
): { recorded: Snapshot; desired: Snapshot } {
  return {
    recorded: narrowSnapshot(recorded, selection),
    desired: narrowSnapshot(replaceKnownSecrets(workspace.desired, recorded), selection),
  }
}
