import { addUp } from '../../core/model/lists.ts'
import type { Comparable, Settings, StateOutside } from '../runtime/parts.ts'
import { isDeepStrictEqual } from 'node:util'
import type {
  Act,
  Applied,
  HistoryEntry,
  PastApply,
  PastChange,
  PastChanges,
} from '../../core/model/applied.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import { isSameJson } from '../../core/model/json.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type {
  IntendedChanges,
  IntendedItem,
  RecordedItem,
  RecordedState,
  HistoryReader,
} from '../../state/store/store.ts'
import { loadState, openState } from '../runtime/open-state.ts'
import type { ChainFinding } from '../../state/format/verify-records.ts'
import { listHistory } from '../state.ts'
import { verifyShown } from './verify-history.ts'

/** The history of a domain. */
export interface PastDomain {
  domain: Domain
  /** First to last, with what each intended for the domain. */
  applies: PastApply[]
  /** Number of pruned applies, which may have written the domain. */
  pruned: number
  /** How the history differs from its chain. */
  findings: ChainFinding[]
}

/** The history of all domains. */
export interface PastFleet {
  /** First to last, with what each intended; null if that is not stored or was not loaded. */
  applies: { apply: HistoryEntry; changes: PastChanges | null }[]
  /** Number of earlier applies that are not listed any more. */
  dropped: number
}

/** Maximum number of changes that are loaded, by default. */
const maxChanges = 300_000
/** The same where `rollout.revert: fast` looks for earlier values. */
export const maxRevertChanges = 100_000
/** Applies, and about how many changes, that are loaded at once. */
const [maxAtOnce, maxChangesAtOnce] = [100, 20_000]

/** Applies of a workspace or a domain, first to last. */
export interface History extends Pick<PastDomain, 'findings'> {
  applies: HistoryEntry[]
  /** What people did beside applies; none in the history of a domain. */
  acts: Act[]
  dropped: number
  /** Null for all domains. */
  domain: PastDomain | null
  /** The changes of the applies. */
  fleet: PastFleet
}

/**
 * Loads and verifies the history of a domain, or that of all, with what the latest applies intended
 * on request: as many of them as have about `maxChanges` changes, but at least the last one.
 *
 * @param name null for all domains
 */
export async function loadHistory(
  workspace: Comparable,
  outside: StateOutside,
  name: string | null = null,
  withChanges = false,
): Promise<History> {
  if (name !== null) {
    const domain = await loadDomainHistory(workspace, name, outside)
    return { ...domain, acts: [], dropped: 0, domain, fleet: toFleet(domain) }
  }
  const { store, recorded } = await loadState(workspace, outside)
  const past = await listPastApplies(store, recorded, withChanges ? maxChanges : 0)
  const ids = past.applies.flatMap(({ apply, changes }) => (changes === null ? [] : [apply.id]))
  const { findings, acts, mark } = await verifyShown(workspace, store, ids)
  const { dropped } = past
  const all = past.applies.map(({ apply, changes }) => ({ apply: mark(apply), changes }))
  const applies = all.map(({ apply }) => apply)
  return { applies, acts, dropped, findings, domain: null, fleet: { applies: all, dropped } }
}

/** Lists the history of all domains from a loaded state, as `loadHistory` does. */
export async function listPastApplies(
  store: HistoryReader,
  recorded: RecordedState,
  limit = maxChanges,
): Promise<PastFleet> {
  const { applies, dropped } = await listHistory(store)
  const stored = applies.filter(({ pruned }) => pruned !== true)
  const past = describeAll(await loadLatest(store, stored, limit), recorded)
  const changes = new Map(past.map((each) => [each.apply.id, each.changes]))
  return {
    applies: applies.map((apply) => ({ apply, changes: changes.get(apply.id) ?? null })),
    dropped,
  }
}

/**
 * Lists what each apply intended for a domain, without loading the state of other domains.
 *
 * @throws EdgewiseError `usage` if neither state nor a stored apply has the domain
 */
export async function loadDomainHistory(
  workspace: Settings,
  name: string,
  outside: StateOutside,
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
  const intended = applies.map(({ apply, items }) => ({
    apply,
    changes: new Map([[domain, items]]),
  }))
  const past = describeAll(intended, new Map([[domain, recorded]]))
  const ids = past.map(({ apply }) => apply.id)
  const { findings, mark } = await verifyShown(workspace, store, ids)
  return {
    domain,
    applies: past.map(({ apply, changes }) => ({
      ...mark(apply),
      items: changes.get(domain) ?? new Map(),
    })),
    pruned,
    findings,
  }
}

/** Converts the history of one domain to that of a fleet. */
function toFleet({ domain, applies }: PastDomain): PastFleet {
  const all = applies.map(({ items, ...apply }) => ({ apply, changes: new Map([[domain, items]]) }))
  return { applies: all, dropped: 0 }
}

/** Explains what pruned applies mean for a history; empty without any. */
export function explainPruned(pruned: number): string {
  const applies = pluralize(pruned, 'pruned apply', 'pruned applies')
  return pruned === 0 ? '' : `${applies} may have written it: that is not stored any more.`
}

interface Intended {
  apply: HistoryEntry
  changes: IntendedChanges
}

/** Loads what the latest applies intended, first to last. */
async function loadLatest(
  store: HistoryReader,
  applies: HistoryEntry[],
  limit: number,
): Promise<Intended[]> {
  const intended: Intended[] = []
  let [left, end] = [limit, applies.length]
  while (end > 0 && left > 0) {
    const start = findStart(applies, end, Math.min(left, maxChangesAtOnce))
    const batch = applies.slice(start, end)
    const found = await store.loadIntended(batch.map(({ id }) => id))
    for (const apply of batch.toReversed()) {
      const changes = found.get(apply.id) ?? new Map()
      left -= addUp(changes.values(), ({ size }) => size)
      intended.push({ apply, changes })
    }
    end = start
  }
  return intended.toReversed()
}

/** Finds the first apply of a batch that ends before `end`: at least one apply. */
function findStart(applies: HistoryEntry[], end: number, changes: number): number {
  let [start, found] = [end, 0]
  while (start > 0 && end - start < maxAtOnce) {
    found += addUp(Object.values(applies[start - 1]?.parts ?? {}))
    if (found > changes && start < end) break
    start--
  }
  return start
}

/**
 * Describes the changes of applies, first to last; state before one is that after the one before.
 *
 * @param intended by the start of the applies, first to last
 */
function describeAll(
  intended: Intended[],
  recorded: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>,
): { apply: HistoryEntry; changes: PastChanges }[] {
  const later = new Map<Domain, Map<ItemKey, RecordedItem | null>>()
  const getLater = (domain: Domain) => {
    const items = later.get(domain) ?? new Map<ItemKey, RecordedItem | null>(recorded.get(domain))
    later.set(domain, items)
    return items
  }
  const past = sortByValues(intended)
    .toReversed()
    .map(({ apply, changes }) => {
      const findRefusal = indexRefusals([apply])
      const described = Array.from(changes, ([domain, items]) => {
        const after = getLater(domain)
        const own = Array.from(items, ([item, change]): [ItemKey, PastChange] => {
          const refusal = findRefusal(domain, item, '')
          const found = describeChange(apply, change, after.get(item) ?? null, refusal)
          after.set(item, change.before)
          return [item, found]
        })
        return [domain, new Map(own)] as const
      })
      return { apply, changes: new Map(described) }
    })
  return past.toReversed()
}

/**
 * Sorts applies by their start, but each after those whose values it found: the clocks of machines
 * differ.
 */
function sortByValues(intended: Intended[]): Intended[] {
  const byId = new Map(intended.map((each) => [each.apply.id, each]))
  const sorted = new Set<Intended>()
  const add = (each: Intended) => {
    // Removed first, so that no cycle of damaged files is endless.
    if (!byId.delete(each.apply.id)) return
    const items = [...each.changes.values()].flatMap((own) => [...own.values()])
    for (const id of new Set(items.flatMap(({ before }) => before?.apply ?? []))) {
      const earlier = byId.get(id)
      if (earlier !== undefined) add(earlier)
    }
    sorted.add(each)
  }
  for (const each of intended) add(each)
  return [...sorted]
}

/** Describes an intended change by the next recorded state of the item; null if unrecorded. */
function describeChange(
  apply: Applied,
  { before, intended }: IntendedItem,
  after: RecordedItem | null,
  refusal: string | null,
): PastChange {
  const outcome = judge(apply, { before, intended }, after, refusal)
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
    message: outcome === 'refused' ? (refusal ?? undefined) : undefined,
  }
}

/** Indexes what the service refused; returns a function that finds its text after a time. */
export function indexRefusals(applies: Iterable<Applied>) {
  const found = new Map<string, { at: string; message: string }>()
  for (const { startedAt: at, refusals = [] } of applies)
    for (const { domains, items, message } of refusals)
      for (const domain of domains)
        for (const item of items) found.set(`${domain} ${item}`, { at, message })
  return (domain: Domain, item: ItemKey, since: string): string | null => {
    const refusal = found.get(`${domain} ${item}`)
    return refusal === undefined || refusal.at < since ? null : refusal.message
  }
}

function judge(
  { id, outcome }: Applied,
  { before, intended }: IntendedItem,
  after: RecordedItem | null,
  refusal: string | null,
): PastChange['outcome'] {
  if (after?.apply === id) return after.status === 'in-doubt' ? 'in-doubt' : 'confirmed'
  if (outcome === 'complete') return intended === null ? 'released' : 'confirmed'
  if (refusal !== null) return 'refused'
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
