import { getItemSpec } from '../catalog/catalogue.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { getAnnotations, type ItemSchema } from '../catalog/value/item-schema.ts'
import { readEffective } from '../effects/effective.ts'
import { createItemState, type ItemKey, type ItemState } from '../model/item.ts'
import { formatPointerStep, isObject, isSameJson, type Json } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'

/** A change of one item, as somebody could make it by mistake. */
export interface Mutant {
  kind: 'drop' | 'change'
  /** JSON pointer of what changes, within the value of the item; empty for the item. */
  part: string
  before: Json
  /** Null if it is dropped. */
  after: Json
  /** The changed item; null if it is dropped. */
  state: ItemState | null
  /** Whether no request can show it, by proof. */
  isIneffective: boolean
}

/**
 * Lists the mutants of an item: without it, without each of its entries, and with another value in
 * each of its other fields. All of them are valid in a manifest. Secrets stay.
 */
export function listMutants(item: ItemKey, state: ItemState): Mutant[] {
  const value = state.ordered ?? state.candidates[0] ?? null
  if (state.status !== 'confirmed' || value === null) return []
  const spec = getItemSpec(item)
  const known = readEffective(item, spec.canonicalize(value))
  const isUnread = isSameJson(readEffective(item, null), known)
  const mutants: Mutant[] = [
    { kind: 'drop', part: '', before: value, after: null, state: null, isIneffective: isUnread },
  ]
  const add = (part: string, before: Json, after: Json, whole: Json): boolean => {
    const { value: canonical, problems } = parseItem(spec, whole, 'manifest')
    if (canonical === null || problems.some(({ severity }) => severity === 'error')) return false
    if (isSameJson(canonical, spec.canonicalize(value))) return false
    const isIneffective = isSameJson(readEffective(item, canonical), known)
    const changed = { ...createItemState(canonical), ordered: whole }
    const kind = after === null ? 'drop' : 'change'
    mutants.push({ kind, part, before, after, state: changed, isIneffective })
    return true
  }
  /** @param set builds the whole value with another one in this place; undefined drops it */
  const visit = (
    part: string,
    schema: ItemSchema,
    found: Json,
    set: (other: Json | undefined) => Json,
  ): void => {
    if (isSecret(found) || found === null) return
    if (Array.isArray(found))
      for (const [i, entry] of found.entries()) {
        const setEntry = (other: Json | undefined) =>
          set(found.flatMap((each, n) => (n !== i ? [each] : other === undefined ? [] : [other])))
        const isDropped = add(`${part}/${i}`, entry, null, setEntry(undefined))
        // Another value of an entry that can be dropped tells nothing more.
        if (!isDropped || isObject(entry))
          visit(`${part}/${i}`, schema.items ?? {}, entry, setEntry)
      }
    else if (isObject(found))
      for (const [key, field] of Object.entries(found))
        visit(part + formatPointerStep(key), schema.properties?.[key] ?? {}, field, (other) =>
          set({ ...found, [key]: other ?? null }),
        )
    else listOthers(schema, found).some((other) => add(part, found, other, set(other)))
  }
  visit('', spec.schema, value, (other) => other ?? null)
  return mutants
}

/** Lists other values of a field, of which the first valid one is taken. */
function listOthers(schema: ItemSchema, value: string | number | boolean): Json[] {
  if (typeof value === 'boolean') return [!value]
  if (schema.enum !== undefined) return schema.enum.filter((each) => each !== value)
  if (typeof value === 'number') return [value + 1, value - 1]
  if (/^\d+$/.test(value)) return [String(Number(value) + 1), String(Number(value) - 1)]
  const separator = getAnnotations(schema).list === 'newline' ? '\n' : ','
  const [, ...rest] = value.split(separator)
  const shorter = rest.length > 0 ? [rest.join(separator)] : []
  return [...shorter, `${value}x`, `x${value}`, 'x.example.com', '192.0.2.254', '12:34', '23:45']
}

/** Ranks an item by what its loss means: access and security 0, caching 1, the rest 2. */
export function rankDanger(item: ItemKey): number {
  const { stages } = getItemSpec(item)
  if (item === 'vendor_origin_auth' || stages.some((each) => /^(conn|acc|redir)/.test(each)))
    return 0
  return stages.includes('cache') ? 1 : 2
}
