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

/** What a plan is made with besides the workspace and the record. */
export interface PlanOptions {
  effort?: Effort
  explain?: boolean
  /**
   * What the store keeps of rollouts: what they hold is left out, and one that is open keeps its
   * waves.
   */
  rollouts?: Rollout[]
  /** Plan what is held as well. */
  retryHeld?: boolean
  /** No waves. */
  atOnce?: boolean
  /**
   * Is called now and then during a long search for fewer writes, with the steps made and the most
   * there may be.
   */
  progress?(made: number, all: number): void
}

/**
 * What would change, and the fewest writes found for it. Reads the record and the manifests, writes
 * nothing.
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
    // One change is one write; the solver is large.
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

/** What a plan has to do with open rollouts. */
function openNotes(continued: Rollout | null, against: Rollout[]): string[] {
  const said = (rollout: Rollout) =>
    `rollout ${rollout.id} (wave ${(findCurrentWave(rollout) ?? 0) + 1} of ${rollout.waves.length})`
  if (continued !== null) return [`this goes on with ${said(continued)}, which is open`]
  return against.map(
    (rollout) =>
      `apply will refuse this plan: ${said(rollout)} is open on some of its domains; see --supersede`,
  )
}

/**
 * The chosen parts of what is recorded and what is desired; secrets that are not at hand count as
 * recorded.
 */
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
