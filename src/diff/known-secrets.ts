import { getItemSpec } from '../catalog/catalogue.ts'
import { isSameAtService, type ItemSpec } from '../catalog/item-spec.ts'
import type { ItemKey, ItemState, Snapshot, Value } from '../model/item.ts'
import { resolvePointer } from '../model/json.ts'
import {
  findReference,
  holdsUnresolved,
  isSecret,
  mapSecrets,
  type Secret,
} from '../model/secret.ts'

/** Resolves the references in desired items; `resolve` may leave one unresolved. */
export function resolveSecrets(
  desired: Snapshot,
  resolve: (reference: string) => Secret,
): Snapshot {
  // Domains with the same profiles share values.
  const resolved = new Map<Value, Value>()
  const resolveValue = (item: ItemKey, value: Value) => {
    const known = resolved.get(value) ?? resolveSecretsIn(item, value, resolve)
    resolved.set(value, known)
    return known
  }
  return mapUnresolvedItems(desired, (item, state) => ({
    ...state,
    candidates: state.candidates.map((value) => resolveValue(item, value)),
  }))
}

/** Resolves the references in a value of an item; the result is canonical. */
export function resolveSecretsIn(
  item: ItemKey,
  value: Value,
  resolve: (reference: string) => Secret,
): Value {
  return replaceReferences(item, value, (reference) => resolve(reference).$secret)
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
  return mapUnresolvedItems(desired, (item, state, domain) => {
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

/** Copies a snapshot with other states for the items that have unresolved secrets. */
function mapUnresolvedItems(
  snapshot: Snapshot,
  replace: (item: ItemKey, state: ItemState, domain: string) => ItemState,
): Snapshot {
  return new Map(
    [...snapshot].map(([domain, items]) => [
      domain,
      [...items.values()].some(({ candidates }) => candidates.some(holdsUnresolved))
        ? new Map(
            [...items].map(([item, state]) => [
              item,
              state.candidates.some(holdsUnresolved) ? replace(item, state, domain) : state,
            ]),
          )
        : items,
    ]),
  )
}
