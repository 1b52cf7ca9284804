import { getOrAdd } from '../model/lists.ts'
import { getItemSpec } from '../catalog/catalogue.ts'
import { isSameAtService, type ItemSpec } from '../catalog/item-spec.ts'
import type { ItemKey, ItemState, Snapshot, Value } from '../model/item.ts'
import { resolvePointer } from '../model/json.ts'
import {
  findReference,
  holdsSecret,
  holdsUnresolved,
  isSecret,
  listSecrets,
  mapSecrets,
} from '../model/secret.ts'

/**
 * Returns the form of a secret in which it can be compared with the recorded secrets of its item;
 * the same secret if its value is not available.
 */
export type Represent = (secret: string, recorded: ReadonlySet<string>) => string

/**
 * Represents the secrets of items so that they can be compared with recorded state. `represent` may
 * leave a reference unresolved.
 */
export function representSecrets(
  items: Snapshot,
  recorded: Snapshot,
  represent: Represent,
): Snapshot {
  // Domains with the same profiles share values.
  const represented = new Map<Value, Map<string, Value>>()
  return mapItems(items, holdsSecret, (item, state, domain) => {
    const known = listRecordedSecrets(recorded.get(domain)?.get(item))
    const name = [...known].join(' ')
    const representValue = (value: Value) => {
      const values = getOrAdd(represented, value, () => new Map<string, Value>())
      return getOrAdd(values, name, () => representSecretsIn(item, value, known, represent))
    }
    return { ...state, candidates: state.candidates.map(representValue) }
  })
}

/** Represents the secrets in a value of an item; the result is canonical. */
export function representSecretsIn(
  item: ItemKey,
  value: Value,
  recorded: ReadonlySet<string>,
  represent: Represent,
): Value {
  return getItemSpec(item).canonicalize(
    mapSecrets(value, (secret) => ({ $secret: represent(secret, recorded) })),
  )
}

/** Lists the secrets of an item in state. */
export function listRecordedSecrets(state: ItemState | undefined): Set<string> {
  if (state === undefined) return new Set()
  const { candidates, returned } = state
  return listSecrets(returned === undefined ? candidates : [...candidates, returned])
}

/**
 * Replaces unresolved secrets in desired items by the recorded fingerprint of the same reference,
 * so that they count as unchanged. The replaced references are in `templates`, so that the values
 * can be resolved later.
 *
 * @param isAssumed the references to replace
 */
export function replaceKnownSecrets(
  desired: Snapshot,
  recorded: Snapshot,
  isAssumed: (reference: string) => boolean = () => true,
): Snapshot {
  return mapItems(desired, holdsUnresolved, (item, state, domain) => {
    const templates = Object.entries(recorded.get(domain)?.get(item)?.templates ?? {})
    const replaced: Record<string, string> = {}
    const candidates = state.candidates.map((value) =>
      replaceReferences(item, value, (reference) => {
        const known = templates.find(([, template]) => template === reference)
        if (known === undefined || !isAssumed(reference)) return null
        replaced[known[0]] = known[1]
        return known[0]
      }),
    )
    if (Object.keys(replaced).length === 0) return state
    return { ...state, candidates, templates: replaced }
  })
}

/**
 * Tests whether two values differ in unresolved secrets only: each has a secret of unknown equality
 * in the same place of `before`.
 */
export function isSameButUnknown(spec: ItemSpec, before: Value, after: Value): boolean {
  if (!holdsUnresolved(after)) return false
  const assumed = mapSecrets(after, (secret, pointer) => {
    const known = resolvePointer(before, pointer)
    return findReference(secret) !== null && isSecret(known) ? known : { $secret: secret }
  })
  return isSameAtService(spec, before, spec.canonicalize(assumed))
}

/** Lists the JSON pointers of the unresolved secrets in a value. */
export function listUnresolvedPointers(value: Value): string[] {
  const pointers: string[] = []
  mapSecrets(value, (secret, pointer) => {
    if (findReference(secret) !== null) pointers.push(pointer)
    return null
  })
  return pointers
}

/** Replaces unresolved secrets in a value, which stays canonical; null keeps one. */
function replaceReferences(
  item: ItemKey,
  value: Value,
  replace: (reference: string) => string | null,
): Value {
  const replaced = mapSecrets(value, (secret) => {
    const reference = findReference(secret)
    return { $secret: (reference === null ? null : replace(reference)) ?? secret }
  })
  return getItemSpec(item).canonicalize(replaced)
}

/** Copies a snapshot with other states for the items with such values. */
function mapItems(
  snapshot: Snapshot,
  isMapped: (value: Value) => boolean,
  replace: (item: ItemKey, state: ItemState, domain: string) => ItemState,
): Snapshot {
  const mapped = new Map(snapshot)
  for (const [domain, items] of snapshot)
    for (const [item, state] of items)
      if (state.candidates.some(isMapped)) {
        const others = mapped.get(domain) ?? items
        mapped.set(domain, new Map(others).set(item, replace(item, state, domain)))
      }
  return mapped
}
