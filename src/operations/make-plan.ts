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
import { describeOnHold } from '../rollout/on-hold.ts'
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
  const asked = hashDesired(workspace)
  const held = retryHeld ? new Map<Domain, Rollout>() : findDomainsOnHold(rollouts, asked)
  const { others: known, chosen: knownOnHold } = splitDomains(chosen.recorded, held)
  const { others: wanted, chosen: wantedOnHold } = splitDomains(chosen.desired, held)
  const onHold = describeOnHold(knownOnHold, wantedOnHold, held)
  const difference = diffSnapshots(known, wanted)
  const changed = new Set(difference.changes.map(({ domain }) => domain))
  const { continued, conflicting } = findConflicts(changed, selection, rollouts, asked)
  const made = planWrites({
    ...options,
    recorded: known,
    desired: wanted,
    ...difference,
    first: config.rollout.first,
    // A single change is a single write, without a need for the large solver.
    ...(difference.changes.length > 1 ? { solver: await resolveSolver(outside) } : {}),
    grouping: config.grouping,
    limits: config.limits,
    target: [...selection.target],
    items: [...selection.items],
    commit: await workspace.commit(),
    ...(atOnce
      ? {}
      : {
          waves:
            continued === null
              ? { amounts: config.rollout.waves }
              : { waveOf: mapDomainsToWaves(continued) },
        }),
  })
  const warnings = [
    ...onHold.notes,
    ...openNotes(continued, conflicting),
    ...(atOnce ? [] : listIrreversibleWarnings(workspace, made.changes, known)),
    ...made.warnings,
  ]
  return { ...made, summary: { ...made.summary, held: onHold.changes }, warnings }
}

/** Describes how open rollouts affect a plan. */
function openNotes(continued: Rollout | null, against: Rollout[]): string[] {
  const said = (rollout: Rollout) =>
    `rollout ${rollout.id} (wave ${(findCurrentWave(rollout) ?? 0) + 1} of ${rollout.waves.length})`
  if (continued !== null) return [`this plan resumes ${said(continued)}, which is open`]
  return against.map(
    (rollout) =>
      `apply will refuse this plan: ${said(rollout)} is open on some of its domains; ` +
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
