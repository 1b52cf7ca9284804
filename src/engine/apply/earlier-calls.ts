import { catalogue } from '../../core/catalog/catalogue.ts'
import { listClearedItems, type ItemKeys } from '../../core/catalog/wire-names.ts'
import type { Applied } from '../../core/model/applied.ts'
import type { Domain, ItemKey, Part } from '../../core/model/item.ts'
import type {
  LateCalls,
  RecordedItem,
  RecordedState,
  HistoryReader,
} from '../../state/store/store.ts'
import { overlaps } from '../../state/store/load-journal.ts'

/** Maximum difference between the clocks of two machines, ms. */
export const maxSkewMs = 300_000
/** Maximum of `service.timeoutSeconds` plus `service.settleSeconds`, ms. */
const maxLandWithinMs = 3_660_000

/** Calls of applies that died. */
export interface EarlierCalls {
  /** By the id of the apply. */
  lateCalls: ReadonlyMap<string, LateCalls>
  /** Unrecorded items that these calls may set: they were recorded, and then forgotten. */
  forgotten: RecordedState
}

/** Loads the calls of dead applies that may still take effect on some items. */
export async function loadEarlierCalls(
  affected: Part[],
  recorded: RecordedState,
  lockedAtMs: number,
  store: Pick<HistoryReader, 'loadLateCalls' | 'loadStateBefore' | 'listApplies'>,
  itemKeys: ItemKeys = {},
): Promise<EarlierCalls> {
  const applies = new Set<string>()
  for (const { domains } of affected)
    for (const domain of domains)
      for (const state of recorded.get(domain)?.values() ?? []) {
        const apply = findDeadApply(state)
        if (apply !== undefined) applies.add(apply)
      }
  const dead = hasUnrecorded(affected, recorded, itemKeys)
    ? await findDeadApplies(affected, lockedAtMs, store)
    : []
  const lateCalls = new Map<string, LateCalls>()
  for (const apply of new Set([...applies, ...dead]))
    lateCalls.set(apply, await store.loadLateCalls(apply))
  return { lateCalls, forgotten: findForgotten(affected, recorded, dead, lateCalls) }
}

function hasUnrecorded(affected: Part[], recorded: RecordedState, itemKeys: ItemKeys): boolean {
  return affected.some(({ domains, items }) => {
    const related = [...findRelatedItems(items, itemKeys)]
    return domains.some((domain) => related.some((item) => !recorded.get(domain)?.has(item)))
  })
}

/**
 * Finds the ids of applies that died and whose calls may still take effect on some domains: no
 * later apply of the same domains started long enough ago. An apply of other domains does not
 * count: it may have run at the same time. A start counts as later only beyond the maximum
 * difference of two clocks.
 */
async function findDeadApplies(
  affected: Part[],
  lockedAtMs: number,
  store: Pick<HistoryReader, 'loadStateBefore' | 'listApplies'>,
): Promise<string[]> {
  const applies = await store.listApplies()
  const wanted = new Set(affected.flatMap(({ domains }) => domains))
  const load = async ({ id }: Applied) => new Set((await store.loadStateBefore(id)).keys())
  const isOver = async ({ startedAt }: Applied, reach: ReadonlySet<Domain>) => {
    for (const later of applies.toReversed()) {
      const start = Date.parse(later.startedAt)
      const isLongAgo = start + maxLandWithinMs < lockedAtMs - maxSkewMs
      const isLater = start > Date.parse(startedAt) + maxSkewMs
      if (isLater && isLongAgo && overlaps(reach, await load(later))) return true
    }
    return false
  }
  const dead: string[] = []
  for (const apply of applies.filter(({ endedAt }) => endedAt === null)) {
    const reach = await load(apply)
    if (overlaps(reach, wanted) && !(await isOver(apply, reach))) dead.push(apply.id)
  }
  return dead
}

/** Finds unrecorded items that late calls may set, with the values of all of these calls. */
function findForgotten(
  affected: Part[],
  recorded: RecordedState,
  dead: string[],
  lateCalls: EarlierCalls['lateCalls'],
): RecordedState {
  const forgotten: RecordedState = new Map()
  const wanted = new Set(affected.flatMap(({ domains }) => domains))
  for (const apply of dead)
    for (const [domain, items] of lateCalls.get(apply)?.open ?? []) {
      if (!wanted.has(domain)) continue
      const known = forgotten.get(domain) ?? new Map<ItemKey, RecordedItem>()
      for (const [item, state] of items)
        if (!recorded.get(domain)?.has(item))
          known.set(item, joinCandidates(known.get(item), state))
      forgotten.set(domain, known)
    }
  return forgotten
}

function joinCandidates(earlier: RecordedItem | undefined, state: RecordedItem): RecordedItem {
  return { ...state, candidates: [...(earlier?.candidates ?? []), ...state.candidates] }
}

/** Returns the id of the apply that died with a call that may still change an item. */
export function findDeadApply(state: RecordedItem): string | undefined {
  return state.open === true ? state.apply : state.late
}

/** Returns the items, the items that they clear, and the items that clear them. */
export function findRelatedItems(items: ItemKey[], itemKeys: ItemKeys): Set<ItemKey> {
  const related = new Set(items)
  for (const item of items)
    for (const cleared of listClearedItems(item, itemKeys)) related.add(cleared)
  for (const key of catalogue.keys())
    if (listClearedItems(key, itemKeys).some((cleared) => items.includes(cleared))) related.add(key)
  return related
}
