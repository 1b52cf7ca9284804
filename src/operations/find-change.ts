import type { ItemKeys } from '../catalog/wire-names.ts'
import { listRecordedSecrets, representSecretsIn, type Represent } from '../diff/known-secrets.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Applied } from '../model/applied.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { holdsSecret } from '../model/secret.ts'
import { computeRollback } from '../plan/compute-rollback.ts'
import type { RecordedState, RecordedItem, Store, Wave } from '../state/store.ts'
import { groupApplies } from '../model/group-applies.ts'
import { findApplies } from './find-applies.ts'

/** Id suffix of a rollback, which distinguishes it from other applies in the history. */
export const rollbackSuffix = 'rollback'

/** For every item the applies intended to change, its state beforehand; null if unrecorded. */
export type PriorState = Wave['before']

/** Sources for finding a change, and for checking whether it can be rolled back. */
export interface Search {
  store: Store
  recorded: RecordedState
  createSecretCheck(before: PriorState): (secret: string) => boolean
  /** Represents earlier secrets so that they can be compared with recorded ones. */
  represent: Represent
  itemKeys: ItemKeys
}

/** Applies, and the state before the first of them of each item that they intended to change. */
export interface FoundChange {
  applies: Applied[]
  before: PriorState
}

/**
 * Lists the domains that an apply or a rollout intended to change.
 *
 * @throws EdgewiseError `usage` when there is none of this name
 */
export async function listChangedDomains(store: Store, name: string): Promise<Domain[]> {
  const { applies: pruned } = await store.listPruned()
  const applies = findApplies(await store.listApplies(), name, pruned)
  const changes = await Promise.all(applies.map(({ id }) => store.loadStateBefore(id)))
  return changes.flatMap((change) => [...change.keys()])
}

/** Loads the change of one apply, or of all waves of a rollout. */
export async function loadChange(
  applies: Applied[],
  { store, recorded, represent }: Pick<Search, 'store' | 'recorded' | 'represent'>,
): Promise<FoundChange> {
  const before = new Map<Domain, ReadonlyMap<ItemKey, RecordedItem | null>>()
  for (const { id } of applies) {
    // The first wave that changed an item has its state before the rollout.
    for (const [domain, items] of await store.loadStateBefore(id))
      before.set(domain, new Map([...items, ...(before.get(domain) ?? [])]))
  }
  return { applies, before: representPrior(before, recorded, represent) }
}

function representPrior(
  before: PriorState,
  recorded: RecordedState,
  represent: Represent,
): PriorState {
  return new Map(
    [...before].map(([domain, items]) => [
      domain,
      new Map(
        [...items].map(([item, state]) => [
          item,
          state === null || !state.candidates.some(holdsSecret)
            ? state
            : representState(item, state, recorded.get(domain)?.get(item), represent),
        ]),
      ),
    ]),
  )
}

/** Represents the secrets of a state, and in its templates. */
function representState(
  item: ItemKey,
  state: RecordedItem,
  now: RecordedItem | undefined,
  represent: Represent,
): RecordedItem {
  const known = listRecordedSecrets(now)
  const { candidates, templates = {} } = state
  return {
    ...state,
    candidates: candidates.map((value) => representSecretsIn(item, value, known, represent)),
    templates: Object.fromEntries(
      Object.entries(templates).flatMap(([secret, template]) => [
        [secret, template],
        [represent(secret, known), template],
      ]),
    ),
  }
}

/** Finds the last apply or rollout that still differs from the state before it, if any. */
export async function findLastDifferent(
  history: Applied[],
  search: Search,
): Promise<FoundChange | null> {
  for (const applies of groupApplies(history).toReversed()) {
    const found = await loadChange(applies, search)
    const reversal = computeRollback(
      search.recorded,
      found.before,
      search.createSecretCheck(found.before),
      search.itemKeys,
    )
    if (reversal.to.size + reversal.irreversible.length > 0) return found
  }
  return null
}

/**
 * Finds the last apply or rollout that still differs from the state before it.
 *
 * @throws EdgewiseError `usage` when there is none, or when it was a rollback itself
 */
export async function findLastChange(history: Applied[], search: Search): Promise<FoundChange> {
  const found = await findLastDifferent(history, search)
  if (found !== null) {
    const [{ id } = { id: '' }] = found.applies
    if (!new RegExp(`-${rollbackSuffix}(-w\\d+)?$`).test(id)) return found
    throw new EdgewiseError(
      'usage',
      `the last apply, ${id}, was a rollback itself`,
      `Name the apply to roll back; "edgewise state history" lists them. ` +
        `"edgewise rollback ${id}" undoes the rollback.`,
    )
  }
  throw new EdgewiseError(
    'usage',
    history.length === 0
      ? 'nothing has been applied yet, so there is nothing to roll back'
      : 'the state is the same as before each apply, so there is nothing to roll back',
    '"edgewise state history" lists the applies.',
  )
}
