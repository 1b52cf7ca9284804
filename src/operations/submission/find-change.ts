import type { Configured, Secrets } from '../runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { type Applied, groupApplies, parseApplyId } from '../../core/model/applied.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Batch, HistoryReader, RecordedState } from '../../state/store/store.ts'
import { mergeBefore } from '../../state/store/load-journal.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { computeReversal } from './irreversible.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'

/** Id suffix of a rollback, which distinguishes it from other applies in the history. */
export const rollbackSuffix = 'rollback'

/** For every item the applies intended to change, its state beforehand; null if unrecorded. */
export type PriorState = Batch['before']

/** Sources for finding a change, and for checking whether it can be rolled back. */
export interface Search {
  workspace: Configured & Secrets
  store: HistoryReader
  recorded: RecordedState
}

/** Applies, and the state before the first of them of each item that they intended to change. */
interface FoundChange {
  applies: Applied[]
  before: PriorState
}

/**
 * Lists the domains that an apply or a rollout intended to change.
 *
 * @throws EdgewiseError `usage` when there is none of this name
 */
export async function listChangedDomains(store: HistoryReader, name: string): Promise<Domain[]> {
  const { applies: pruned } = await store.listPruned()
  const applies = findApplies(await store.listApplies(), name, pruned)
  const changes = await Promise.all(applies.map(({ id }) => store.loadStateBefore(id)))
  return changes.flatMap((change) => [...change.keys()])
}

/** Loads the change of one apply, or of all waves of a rollout. */
export async function loadChange(applies: Applied[], store: HistoryReader): Promise<FoundChange> {
  const waves: Pick<Batch, 'before'>[] = []
  for (const { id } of applies) waves.push({ before: await store.loadStateBefore(id) })
  // The first wave that changed an item has its state before the rollout.
  return { applies, before: mergeBefore(waves) }
}

/** Finds the last apply or rollout that still differs from the state before it, if any. */
export async function findLastDifferent(
  history: Applied[],
  search: Search,
): Promise<FoundChange | null> {
  for (const applies of groupApplies(history).toReversed()) {
    const found = await loadChange(applies, search.store)
    const reversal = computeReversal(search.workspace, search.recorded, found.before)
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

/**
 * Finds applies by name, first to last: a single apply by its id, or every wave by the rollout's
 * id.
 *
 * @param pruned applies whose state beforehand was pruned
 * @throws EdgewiseError `usage` when the history has no such apply, or it was pruned
 */
export function findApplies(history: Applied[], name: string, pruned: Applied[] = []): Applied[] {
  const found = findByName(history, name)
  if (found.length > 0) return found
  const gone = findByName(pruned, name).at(-1)
  if (gone !== undefined) throw createPrunedError(name, gone)
  throw new EdgewiseError(
    'usage',
    `there is no apply ${JSON.stringify(name)}.${didYouMean(
      name,
      history.map(({ id }) => id),
    )}`,
    '"edgewise state history" lists all applies.',
  )
}

function findByName(applies: Applied[], name: string): Applied[] {
  const rollout = groupApplies(applies).find(
    ([first]) => first !== undefined && parseApplyId(first.id).rollout === name,
  )
  return rollout ?? applies.filter(({ id }) => id === name)
}

function createPrunedError(name: string, { commit }: Applied): EdgewiseError {
  const own = commit === null ? '' : ` (commit ${escapeInvisible(commit)} has its own)`
  return new EdgewiseError(
    'usage',
    `apply ${JSON.stringify(name)} was pruned: the state before it is not stored any more`,
    `Apply earlier manifests instead${own}. "edgewise state history" lists what is left.`,
  )
}
