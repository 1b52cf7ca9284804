import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { withKnownSecrets } from '../diff/known-secrets.ts'
import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Snapshot } from '../model/item.ts'
import type { Effort, Plan } from '../model/plan.ts'
import type { Solver } from '../plan/cover/dual-bound.ts'
import { makePlan } from '../plan/make-plan.ts'
import { narrowed, type Selection } from '../plan/selection.ts'
import type { Recorded } from '../state/record.ts'
import type { LoadedWorkspace } from './workspace.ts'

/**
 * What would change, and the fewest writes found for it. Reads the record and the manifests, writes nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error
 */
export async function plan(
  workspace: LoadedWorkspace,
  recorded: Recorded,
  selection: Selection,
  options: { effort?: Effort; explain?: boolean } = {},
): Promise<Plan> {
  const { config } = workspace
  if (workspace.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new EdgewiseError('invalid', 'the manifests have errors', 'Run "edgewise validate".', workspace.diagnostics)
  }
  const { recorded: known, desired: wanted } = chosenSnapshots(workspace, recorded, selection)
  const difference = diffSnapshots(known, wanted)
  return makePlan({
    ...options,
    recorded: known,
    desired: wanted,
    ...difference,
    first: config.rollout.first,
    // One change is one write; the solver is large.
    ...(difference.changes.length > 1 ? { solver: await loadSolver() } : {}),
    grouping: config.grouping,
    limits: config.limits,
    target: [...selection.target],
    items: [...selection.items],
    commit: await workspace.commit(),
  })
}

/** Loads the solver of linear programmes, which proves how few writes a plan can have. It is large, so only who needs it does. */
export async function loadSolver(): Promise<Solver> {
  // The package's types call its default export a namespace.
  const { default: load } = (await import('highs')) as unknown as { default: () => Promise<Solver> }
  return load()
}

/** The chosen parts of what is recorded and what is desired; secrets that are not at hand count as recorded. */
export function chosenSnapshots(workspace: Workspace, recorded: Recorded, selection: Selection): { recorded: Snapshot; desired: Snapshot } {
  return { recorded: narrowed(recorded, selection), desired: narrowed(withKnownSecrets(workspace.desired, recorded), selection) }
}
