import { removeItems } from '../apply/intents.ts'
import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { makePlan } from '../plan/make-plan.ts'
import { narrowSnapshot, type Selection } from '../plan/selection.ts'
import {
  computeRollback,
  type Irreversible,
  type RollbackSnapshots,
} from '../plan/compute-rollback.ts'
import type { Applied } from '../model/applied.ts'
import type { RecordedState, Store } from '../state/store.ts'
import { findApplies } from './find-applies.ts'
import { loadChange, findLastChange, type PriorState, type Search } from './find-change.ts'
import { resolveSolver } from './load-solver.ts'
import type { Outside } from './outside.ts'
import { createSecretCheck } from './secret-check.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** A plan back to what was recorded before an apply. */
export interface Rollback {
  /** What is taken back, first to last: one apply, or the waves of one rollout. */
  applies: Applied[]
  plan: Plan
  /** What can't be taken back, or not all of it. */
  irreversible: Irreversible[]
  /**
   * What was recorded since of items that are taken back, so that the way back goes over it as
   * well.
   */
  later: { domains: Domain[]; applies: string[] }
  /** Items that were not recorded before, and that the plan unsets. */
  unmanaged: { domain: Domain; item: ItemKey }[]
}

/**
 * Plans the way back to what was recorded before an apply, or before a rollout in waves. Only what
 * that apply changed is touched. Reads the record and the secrets, writes nothing; the manifests do
 * not count.
 *
 * @param name id of an apply or a rollout; null for the last one that changed something
 * @throws EdgewiseError `usage` when there is no such apply, it changed no chosen domain, or none
 * is named and the last one
 *   was a rollback itself; `irreversible` when all of what it changed can't be taken back
 */
export async function planRollback(
  workspace: LoadedWorkspace,
  store: Store,
  recorded: RecordedState,
  selection: Selection,
  name: string | null,
  outside: Outside,
): Promise<Rollback> {
  const history = await store.listApplies()
  const { vault } = workspace
  const search: Search = {
    store,
    recorded,
    createSecretCheck: (before) => createSecretCheck(before, recorded, vault),
  }
  const { applies, before } =
    name === null
      ? await findLastChange(history, search)
      : await loadChange(findApplies(history, name), store)
  const chosen = narrowSnapshot(before, selection)
  if (chosen.size === 0 && selection.target.length > 0) throw nothingChosen(applies, selection)
  const way = computeRollback(recorded, chosen, search.createSecretCheck(chosen))
  if (way.to.size === 0 && way.irreversible.length > 0) throw allIrreversible(applies, way)
  return {
    applies,
    plan: await planOf(way, workspace, selection, outside),
    irreversible: way.irreversible,
    later: await changedLater(way, applies, history, search),
    unmanaged: unmanagedOf(way, chosen),
  }
}

function nothingChosen(applies: Applied[], { target }: Selection): EdgewiseError {
  return new EdgewiseError(
    'usage',
    `apply ${applies.map(({ id }) => id).join(', ')} changed no domain that matches ${target.map((glob) => `"${glob}"`).join(', ')}`,
    'Globs match whole domain names, e.g. --target "*.example.com".',
  )
}

function allIrreversible(applies: Applied[], { irreversible }: RollbackSnapshots): EdgewiseError {
  const [first] = irreversible
  const rest = irreversible.length - 1
  const more = rest === 0 ? '' : `, and ${rest} more`
  return new EdgewiseError(
    'irreversible',
    `nothing that apply ${applies.map(({ id }) => id).join(', ')} changed can be taken back: ${first?.item ?? ''} of ${first?.domain ?? ''} (${first?.reason ?? ''})${more}`,
    'Say in the manifests what these items should be, and apply that.',
  )
}

async function planOf(
  { from, to }: RollbackSnapshots,
  { config }: LoadedWorkspace,
  { target, items }: Selection,
  outside: Outside,
): Promise<Plan> {
  const difference = diffSnapshots(from, to)
  return makePlan({
    recorded: from,
    desired: to,
    ...difference,
    ...(difference.changes.length > 1 ? { solver: await resolveSolver(outside) } : {}),
    first: config.rollout.first,
    grouping: config.grouping,
    limits: config.limits,
    target: [...target],
    items: [...items],
    // What it leads to stands in no commit.
    commit: null,
  })
}

/** Domains where something else was recorded of these items since, and by what. */
async function changedLater(
  { to }: RollbackSnapshots,
  applies: Applied[],
  history: Applied[],
  { store, recorded }: Search,
): Promise<Rollback['later']> {
  const own = new Set(applies.map(({ id }) => id))
  const domains = new Set<Domain>()
  const by = new Set<string>()
  const found = (domain: Domain, apply: string) => {
    domains.add(domain)
    by.add(apply)
  }
  const last = history.findLastIndex(({ id }) => own.has(id))
  for (const { id } of history.slice(last + 1)) {
    for (const [domain, items] of await store.loadStateBefore(id)) {
      const goals = to.get(domain)
      if (goals !== undefined && [...items.keys()].some((item) => goals.has(item)))
        found(domain, id)
    }
  }
  for (const [domain, goals] of to) {
    for (const item of goals.keys()) {
      const apply = recorded.get(domain)?.get(item)?.apply
      if (apply !== undefined && !own.has(apply)) found(domain, apply)
    }
  }
  return { domains: [...domains].toSorted(), applies: [...by] }
}

function unmanagedOf({ to }: RollbackSnapshots, before: PriorState): Rollback['unmanaged'] {
  return [...to].flatMap(([domain, goals]) =>
    [...goals.keys()]
      .filter((item) => (before.get(domain)?.get(item) ?? null) === null)
      .map((item) => ({ domain, item })),
  )
}

/**
 * What is recorded of the domains whose unset items were not recorded before, without these items:
 * nothing of them was managed, so nothing of them should be released by a later plan.
 */
export function removeUnmanaged({ unmanaged }: Rollback, recorded: RecordedState): RecordedState {
  return removeItems(
    unmanaged.filter(({ domain, item }) => recorded.get(domain)?.get(item)?.status === 'unset'),
    recorded,
  )
}
