import type { Configured, Secrets, Outside } from '../runtime/parts.ts'
import { removeItems } from '../../engine/apply/intent-batches.ts'
import { addNamesakes } from '../../core/catalog/wire-names.ts'
import { diffSnapshots } from '../../core/diff/diff-snapshots.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { Irreversible, Plan } from '../../core/model/plan.ts'
import {
  globAdvice,
  findUnmatched,
  narrowSnapshot,
  type Selection,
} from '../../core/plan/selection.ts'
import type { RollbackSnapshots } from '../../core/plan/compute-rollback.ts'
import type { Applied } from '../../core/model/applied.ts'
import type { HistoryReader, RecordedState } from '../../state/store/store.ts'
import {
  findApplies,
  loadChange,
  findLastChange,
  type PriorState,
  type Search,
} from '../submission/find-change.ts'
import { computeReversal } from '../submission/irreversible.ts'
import { runPlanner } from '../submission/make-plan.ts'
import { nameItems, quoteAll } from '../submission/select.ts'
import { formatCount } from '../../core/model/text/words.ts'

/** Plan that restores the state before an apply. */
export interface Rollback {
  /** Applies to roll back, first to last: a single apply, or the waves of a rollout. */
  applies: Applied[]
  plan: Plan
  /** Items that can't be rolled back, or only in part. */
  irreversible: Irreversible[]
  /** Later changes of the same items, which the rollback overwrites as well. */
  later: {
    domains: Domain[]
    applies: string[]
    /** Those of the applies that another workspace made, which had the domain meanwhile. */
    ofOthers: string[]
  }
  /** Items that were unrecorded before, which the plan unsets. */
  unmanaged: { domain: Domain; item: ItemKey }[]
}

/**
 * Plans the rollback to the state before an apply, or before a rollout in waves. Only items that
 * the apply changed are touched. Uses recorded state and secrets, not the manifests, and writes
 * nothing.
 *
 * @param name id of an apply or a rollout; null for the last one that changed something
 * @throws EdgewiseError `usage` when there is no such apply, when it did not change a selected
 * domain or item, or when `name` is null and the last change was a rollback; `irreversible` when
 * nothing of it can be rolled back
 */
export async function planRollback(
  workspace: Configured & Secrets,
  store: HistoryReader,
  recorded: RecordedState,
  selection: Selection,
  name: string | null,
  outside: Outside,
): Promise<Rollback> {
  const history = await store.listApplies()
  const search: Search = { workspace, store, recorded }
  const { applies, before } =
    name === null
      ? await findLastChange(history, search)
      : await loadChange(findApplies(history, name, (await store.listPruned()).applies), store)
  refuseUnmatched(applies, findUnmatched([before], selection))
  const chosen = narrowSnapshot(before, {
    ...selection,
    items: addNamesakes(selection.items, workspace.config.service.itemKeys),
  })
  const reversal = computeReversal(workspace, recorded, chosen)
  if (reversal.to.size === 0 && reversal.irreversible.length > 0)
    throw createIrreversibleError(applies, reversal)
  return {
    applies,
    plan: await buildRollbackPlan(reversal, workspace, selection, outside),
    irreversible: reversal.irreversible,
    later: await findLaterChanges(reversal, applies, history, search),
    unmanaged: findUnmanaged(reversal, chosen),
  }
}

function refuseUnmatched(applies: Applied[], { target, items }: Selection): void {
  const apply = `apply ${applies.map(({ id }) => id).join(', ')}`
  if (target.length > 0)
    throw new EdgewiseError(
      'usage',
      `${apply} changed no domain that matches ${quoteAll(target)}`,
      globAdvice,
    )
  if (items.length > 0)
    throw new EdgewiseError(
      'usage',
      `${apply} did not change the ${nameItems(items)} of a selected domain`,
      'Omit --item to roll back all items that it changed.',
    )
}

function createIrreversibleError(
  applies: Applied[],
  { irreversible }: RollbackSnapshots,
): EdgewiseError {
  const [first] = irreversible
  const rest = irreversible.length - 1
  const more = rest === 0 ? '' : `, and ${formatCount(rest)} more`
  return new EdgewiseError(
    'irreversible',
    `nothing that apply ${applies.map(({ id }) => id).join(', ')} changed can be rolled back: ` +
      `${first?.item ?? ''} of ${first?.domain ?? ''} (${first?.reason ?? ''})${more}`,
    'Set these items in the manifests, and apply.',
  )
}

function buildRollbackPlan(
  { from, to }: RollbackSnapshots,
  { config }: Configured,
  { target, items }: Selection,
  outside: Outside,
): Promise<Plan> {
  return runPlanner(config, outside, {
    recorded: from,
    desired: to,
    ...diffSnapshots(from, to, config.service.itemKeys, config.service.unset),
    target: [...target],
    items: [...items],
    // The desired state of a rollback is in no commit.
    commit: null,
  })
}

/** Finds later changes of the same items: their domains and applies. */
async function findLaterChanges(
  { to }: RollbackSnapshots,
  applies: Applied[],
  history: Applied[],
  { store, recorded }: Search,
): Promise<Rollback['later']> {
  const own = new Set(applies.map(({ id }) => id))
  const domains = new Set<Domain>()
  const appliesLater = new Set<string>()
  const ofOthers = new Set<string>()
  const known = new Set(history.map(({ id }) => id))
  const startedAt = applies[0]?.startedAt ?? ''
  const add = (domain: Domain, apply: string) => {
    domains.add(domain)
    appliesLater.add(apply)
  }
  const last = history.findLastIndex(({ id }) => own.has(id))
  for (const { id } of history.slice(last + 1)) {
    for (const [domain, items] of await store.loadStateBefore(id)) {
      const goals = to.get(domain)
      if (goals !== undefined && [...items.keys()].some((item) => goals.has(item))) add(domain, id)
    }
  }
  for (const [domain, goals] of to) {
    for (const item of goals.keys()) {
      const state = recorded.get(domain)?.get(item)
      if (state === undefined || own.has(state.apply)) continue
      add(domain, state.apply)
      // Earlier applies may be pruned; imports are no applies.
      if (state.origin === 'write' && !known.has(state.apply) && state.at > startedAt)
        ofOthers.add(state.apply)
    }
  }
  return {
    domains: [...domains].toSorted(),
    applies: [...appliesLater],
    ofOthers: [...ofOthers],
  }
}

function findUnmanaged({ to }: RollbackSnapshots, before: PriorState): Rollback['unmanaged'] {
  return [...to].flatMap(([domain, goals]) =>
    [...goals.keys()]
      .filter((item) => (before.get(domain)?.get(item) ?? null) === null)
      .map((item) => ({ domain, item })),
  )
}

/**
 * Removes items that were unset because they were unrecorded before; returns the new state of their
 * domains. They were never managed, so a later plan must not release them.
 */
export function removeUnmanaged({ unmanaged }: Rollback, recorded: RecordedState): RecordedState {
  return removeItems(
    unmanaged.filter(({ domain, item }) => recorded.get(domain)?.get(item)?.status === 'unset'),
    recorded,
  )
}
