import { isDeepStrictEqual } from 'node:util'
import { isSameJson } from '../model/canonical-json.ts'
import type { Applied } from '../model/applied.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey, Value } from '../model/item.ts'
import { pluralize } from '../model/words.ts'
import type { DomainApply, IntendedItem, RecordedItem } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { openState } from './open-state.ts'
import type { Outside } from './outside.ts'
import { sortByValues } from './sort-by-values.ts'

/**
 * The outcome of an intended change, as state has it.
 *
 * - `confirmed`: the service confirmed it; `in-doubt`: it may have taken effect
 * - `unchanged`: afterwards the item was recorded as before; the write was refused or not sent
 * - `released`: the item left state, as intended
 * - `not-recorded`: the item was not in state afterwards: refused, not sent, or forgotten since
 * - `not-known`: another command has replaced its state since
 */
export type ChangeOutcome =
  | 'confirmed'
  | 'in-doubt'
  | 'unchanged'
  | 'released'
  | 'not-recorded'
  | 'not-known'

/** Change of an item that an apply intended. */
export interface PastChange {
  /** Recorded state before; null if unrecorded. */
  before: Pick<RecordedItem, 'status' | 'candidates' | 'unknown'> | null
  /** Intended values: several if the value before was in-doubt, none if unset; null: released. */
  after: Value[] | null
  outcome: ChangeOutcome
}

/** What one apply intended for a domain. */
export interface PastApply extends Applied {
  items: Map<ItemKey, PastChange>
}

/** The history of a domain. */
export interface PastDomain {
  domain: Domain
  /** First to last. */
  applies: PastApply[]
  /** Number of pruned applies, which may have written the domain. */
  pruned: number
}

/**
 * Lists what each apply intended for a domain, without loading the state of other domains.
 *
 * @throws EdgewiseError `usage` if neither state nor a stored apply has the domain
 */
export async function loadDomainHistory(
  workspace: LoadedWorkspace,
  name: string,
  outside: Outside,
): Promise<PastDomain> {
  outside.onPhase?.({ name: 'loading-state' })
  const { store } = await openState(workspace, outside)
  const domain = name.toLowerCase()
  const { applies, recorded, pruned } = await store.loadDomainHistory(domain)
  if (applies.length === 0 && recorded.size === 0) {
    const owner = (await store.findOwners([domain])).get(domain)
    throw new EdgewiseError(
      'usage',
      `no apply has written "${domain}"${pruned === 0 ? '' : ' as far as is stored'}, and state ` +
        'has nothing of it',
      owner === undefined
        ? [explainPruned(pruned), '"edgewise state list" lists all recorded domains.']
            .join(' ')
            .trim()
        : `It belongs to the workspace "${owner}": run the command there.`,
    )
  }
  // From the last to the first: state after an apply is the state before the next one.
  const later = new Map<ItemKey, RecordedItem | null>(recorded)
  const past = sortByValues(applies, ({ apply }) => apply.id, listFound)
    .toReversed()
    .map(({ apply, items }): PastApply => {
      const changes = Array.from(items, ([item, change]): [ItemKey, PastChange] => {
        const found = describeChange(apply, change, later.get(item) ?? null)
        later.set(item, change.before)
        return [item, found]
      })
      return { ...apply, items: new Map(changes) }
    })
  return { domain, applies: past.toReversed(), pruned }
}

function* listFound({ items }: DomainApply): Iterable<string> {
  for (const { before } of items.values()) if (before !== null) yield before.apply
}

/** Explains what pruned applies mean for a history; empty without any. */
export function explainPruned(pruned: number): string {
  const applies = pluralize(pruned, 'pruned apply', 'pruned applies')
  return pruned === 0 ? '' : `${applies} may have written it: that is not stored any more.`
}

/**
 * Describes an intended change, with its outcome as state has it.
 *
 * @param after the next recorded state of the item; null if unrecorded
 */
export function describeChange(
  apply: Applied,
  { before, intended }: IntendedItem,
  after: RecordedItem | null,
): PastChange {
  const outcome = judge(apply, { before, intended }, after)
  return {
    before: before && {
      status: before.status,
      candidates: before.candidates,
      ...(before.unknown === true ? { unknown: true } : {}),
    },
    after:
      after?.apply === apply.id && outcome === 'confirmed'
        ? after.candidates
        : listIntended(before, intended),
    outcome,
  }
}

function judge(
  { id, outcome }: Applied,
  { before, intended }: IntendedItem,
  after: RecordedItem | null,
): ChangeOutcome {
  if (after?.apply === id) return after.status === 'in-doubt' ? 'in-doubt' : 'confirmed'
  if (outcome === 'complete') return intended === null ? 'released' : 'confirmed'
  if (after === null) return intended === null ? 'released' : 'not-recorded'
  return isDeepStrictEqual(before, after) ? 'unchanged' : 'not-known'
}

/** Lists the intended values: an intent has them beside the values before. */
function listIntended(before: RecordedItem | null, intended: RecordedItem | null): Value[] | null {
  if (intended === null) return null
  const old = before?.candidates ?? []
  const fresh = intended.candidates.filter(
    (value) => !old.some((candidate) => isSameJson(candidate, value)),
  )
  const becomesUnset = intended.unknown === true && before !== null && before.unknown !== true
  return fresh.length > 0 || becomesUnset ? fresh : intended.candidates
}
