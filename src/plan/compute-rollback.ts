import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields, type ItemSpec } from '../catalog/item-spec.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { isSameJson } from '../model/canonical-json.ts'
import {
  unrecordedState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../model/item.ts'
import { mapSecrets } from '../model/secret.ts'

/** domain → item → what was recorded of it; null for nothing. */
type Before = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState | null>>
type Now = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>

/** An item that can't be brought back, or not all of it, to what was recorded before. */
export interface Irreversible {
  domain: Domain
  item: ItemKey
  /** A clause that follows the item's name: "https of www.example.com: …". */
  reason: string
}

/** The way from what is recorded now to what was recorded before. */
export interface RollbackSnapshots {
  /** The part of what is recorded now that the way back changes. */
  from: Snapshot
  /** What that part should come to. `diffSnapshots(from, to)` gives the changes. */
  to: Snapshot
  /** Sorted by domain, then by item. */
  irreversible: Irreversible[]
}

/**
 * How to bring items back to what was recorded of them before. Nothing but these items, and those
 * that another one of them empties, is touched. An item of which nothing was recorded is unset
 * where the specification has a way to do so.
 *
 * @param now what is recorded, or what will be once a plan is carried out
 * @param before of each item to bring back what was recorded; null for nothing
 * @param isAtHand whether the value of a secret is at hand, by its fingerprint (`scrypt:…`)
 */
export function computeRollback(
  now: Now,
  before: Before,
  isAtHand: (secret: string) => boolean,
): RollbackSnapshots {
  const way: RollbackSnapshots = { from: new Map(), to: new Map(), irreversible: [] }
  for (const domain of [...before.keys()].toSorted()) {
    const items = before.get(domain) ?? new Map<ItemKey, ItemState | null>()
    const held = now.get(domain) ?? new Map<ItemKey, ItemState>()
    const goals = new Map<ItemKey, ItemState>()
    const lost = new Map<ItemKey, string>()
    for (const item of [...items.keys()].toSorted()) {
      const { goal, reason } = returning(
        domain,
        item,
        items.get(item) ?? null,
        held.get(item),
        isAtHand,
      )
      if (goal !== undefined) goals.set(item, goal)
      if (reason !== undefined) lost.set(item, reason)
    }
    const emptied = withoutEmptied(goals, lost, items, held)
    if (goals.size > 0) {
      way.to.set(domain, goals)
      way.from.set(
        domain,
        new Map(
          [...held].filter(
            ([item, { status }]) => goals.has(item) || (emptied.has(item) && status !== 'unset'),
          ),
        ),
      )
    }
    for (const item of [...lost.keys()].toSorted())
      way.irreversible.push({ domain, item, reason: lost.get(item) ?? '' })
  }
  return way
}

/** Where one item should go, and what can't be had again. Neither where it is as it was. */
interface Returning {
  goal?: ItemState
  reason?: string
}

function returning(
  domain: Domain,
  item: ItemKey,
  was: ItemState | null,
  held: ItemState | undefined,
  isAtHand: (secret: string) => boolean,
): Returning {
  if (isAsItWas(was, held)) return {}
  const spec = catalogue.get(item)
  if (spec === undefined) return { reason: 'this version of edgewise does not know the item' }
  if (was === null || was.status === 'unset') return toUnset(spec, domain, was, held)
  const [value, ...others] = was.candidates
  if (value === undefined) return { reason: 'what it held before is not known' }
  if (was.unknown === true || others.length > 0) {
    const values =
      others.length === 0 ? 'one value and something unknown' : `${was.candidates.length} values`
    return { reason: `what it held before was in doubt between ${values}` }
  }
  return toValue(spec, domain, { ...was, candidates: [value] }, value, held, isAtHand)
}

/**
 * Equal as far as a plan can tell: of an item that is unset it does not matter what the service
 * made of that.
 */
function isAsItWas(was: ItemState | null, held: ItemState | undefined): boolean {
  if (was === null || held === undefined) return was === null && held === undefined
  if (was.status !== held.status) return false
  if (was.status === 'unset') return true
  return (
    (was.unknown === true) === (held.unknown === true) &&
    isSameJson(was.candidates, held.candidates)
  )
}

function toUnset(
  spec: ItemSpec,
  domain: Domain,
  was: ItemState | null,
  held: ItemState | undefined,
): Returning {
  const earlier = was === null ? 'nothing was recorded of it before' : 'it was unset before'
  if (held?.status === 'unset')
    return { reason: `${earlier}, so what was taken from it is not known` }
  const payload = spec.unset?.(held ?? unrecordedState, domain)
  if (payload === undefined)
    return { reason: `${earlier}, and the service documents no way to unset it` }
  if (payload === null)
    return { reason: `${earlier}, and no entry of it is recorded that could be taken back` }
  return { goal: { status: 'unset', candidates: [] } }
}

function toValue(
  spec: ItemSpec,
  domain: Domain,
  was: ItemState,
  value: Value,
  held: ItemState | undefined,
  isAtHand: (secret: string) => boolean,
): Returning {
  const kept = spec.keptFields.filter(
    (name) =>
      (held?.candidates ?? []).some((each) => hasField(each, name)) && !hasField(value, name),
  )
  const reason = `${kept.join(' and ')} was not recorded before, and the service keeps it when it is left out`
  const partly = kept.length === 0 ? {} : { reason }
  // What is left of the difference may be nothing but fields that the service keeps.
  if (
    held?.status === 'confirmed' &&
    isSameJson(held.candidates[0], fillKeptFields(spec.keptFields, value, held.candidates[0]))
  )
    return partly
  const read = parseItem(spec, value, 'manifest', domain)
  if (read.value === null)
    return { reason: `what was recorded before is not valid (${read.problems[0]?.pointer || '/'})` }
  const missing = secretsOf(value).filter((secret) => !isAtHand(secret))
  if (missing.length > 0) {
    const names = [
      ...new Set(missing.map((secret) => was.templates?.[secret] ?? 'written out in a manifest')),
    ].join(', ')
    return { reason: `it held a secret before whose value is not at hand (${names})` }
  }
  const { templates } = was
  return {
    goal: {
      status: 'confirmed',
      candidates: [read.value],
      ...(templates === undefined ? {} : { templates }),
    },
    ...partly,
  }
}

function hasField(value: Value, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}

function secretsOf(value: Value): string[] {
  const secrets: string[] = []
  mapSecrets(value, (secret) => {
    secrets.push(secret)
    return null
  })
  return secrets
}

/**
 * Takes out the goals that another one empties, since both can't be met, and those that would only
 * unset an item and empty one that is as it was; gives all items that are emptied on the way.
 */
function withoutEmptied(
  goals: Map<ItemKey, ItemState>,
  lost: Map<ItemKey, string>,
  before: ReadonlyMap<ItemKey, ItemState | null>,
  now: ReadonlyMap<ItemKey, ItemState>,
): Set<ItemKey> {
  const emptied = new Set<ItemKey>()
  const isHeld = (held: ItemState | null | undefined) =>
    held !== null && held !== undefined && held.status !== 'unset'
  const stays = (item: ItemKey) =>
    !goals.has(item) && isHeld(now.get(item)) && (!before.has(item) || isHeld(before.get(item)))
  const valuesFirst = [...goals].toSorted(
    ([, a], [, b]) => Number(a.status === 'unset') - Number(b.status === 'unset'),
  )
  for (const [item, goal] of valuesFirst) {
    if (!goals.has(item)) continue
    const { clearedItems } = getItemSpec(item)
    const kept = goal.status === 'unset' ? clearedItems.find(stays) : undefined
    if (kept !== undefined) {
      lost.set(item, `to unset it would empty ${kept}`)
      goals.delete(item)
      continue
    }
    for (const cleared of clearedItems) {
      emptied.add(cleared)
      if (goals.get(cleared)?.status === 'confirmed' || (before.has(cleared) && stays(cleared)))
        lost.set(cleared, `${item} empties it`)
      goals.delete(cleared)
    }
  }
  return emptied
}
