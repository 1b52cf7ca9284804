import { catalogue, itemSpec } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { isImperative } from '../catalog/problems.ts'
import { readItem, secretFields } from '../catalog/read-item.ts'
import { isDomain } from '../catalog/value/formats.ts'
import type { Observed, ObservedItem } from '../model/drift.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { confirmed, type Domain, type Held, type ItemKey, type Snapshot, type Value } from '../model/item.ts'
import { atPointer, isObject, own, type Json, type JsonObject } from '../model/json.ts'
import { mapSecrets } from '../model/secret.ts'
import { sealedLike } from './sealed-like.ts'
import type { SecretVault } from './secret-vault.ts'

/** What is known of the items without looking at the service. */
export interface Known {
  recorded: Snapshot
  desired: Snapshot
  /** Item → its name on the wire, where the two differ. */
  itemKeys: Record<ItemKey, string>
  vault: SecretVault
}

const empty: Held = { status: 'unset', candidates: [] }

/**
 * Reads what somebody saw at the service, `{domain: {item: payload}}`, as far as it is managed here. An item that is left
 * out was not observed; null, or an empty list, says that nothing is there. A field that always holds a secret counts as
 * recorded where it is left out or masked (`***`), and so does a field that the service keeps.
 *
 * @returns what was seen, and sentences about what could not be used
 * @throws EdgewiseError `not-observed` when the data has another shape
 */
export function readObserved(data: Json, known: Known): { observed: Observed; notes: string[] } {
  if (!isObject(data)) throw wrongShape(`expected an object, got ${wordFor(data)}`)
  const itemOf = new Map(Object.entries(known.itemKeys).map(([item, name]) => [name, item]))
  const observed = new Map<Domain, Map<ItemKey, ObservedItem>>()
  const faults: string[] = []
  let foreign = 0
  for (const [name, config] of Object.entries(data)) {
    const domain = name.toLowerCase()
    if (!isDomain(domain)) throw wrongShape(`expected names of domains as keys, got ${JSON.stringify(name.slice(0, 80))}`)
    if (!isObject(config)) throw wrongShape(`expected an object of items under "${domain}", got ${wordFor(config)}`)
    if (observed.has(domain)) throw wrongShape(`the domain "${domain}" stands in it twice`)
    const seen = new Map<ItemKey, ObservedItem>()
    for (const [wireName, payload] of Object.entries(config)) {
      const item = itemOf.get(wireName) ?? wireName
      const read = isManaged(domain, item, known) ? readOne(domain, itemSpec(item), payload, known) : null
      if (read === null) foreign++
      else if (typeof read === 'string') faults.push(read)
      else seen.set(item, read)
    }
    for (const item of clearedBy(config, itemOf)) {
      if (!seen.has(item) && isManaged(domain, item, known)) seen.set(item, { held: empty, notVerified: [] })
    }
    observed.set(domain, seen)
  }
  return {
    observed,
    notes: [
      ...some(faults),
      ...(foreign === 0 ? [] : [`${foreign} observed ${foreign === 1 ? 'item is' : 'items are'} not managed here and not looked at.`]),
    ],
  }
}

function wrongShape(why: string): EdgewiseError {
  return new EdgewiseError('not-observed', `what was observed can't be used: ${why}`, 'Expected {"<domain>": {"<item>": payload}} as JSON.')
}

function wordFor(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function isManaged(domain: Domain, item: ItemKey, { recorded, desired }: Known): boolean {
  return catalogue.has(item) && (recorded.get(domain)?.has(item) === true || desired.get(domain)?.has(item) === true)
}

/** Items that can't be there, since one that empties them is. */
function clearedBy(config: JsonObject, itemOf: ReadonlyMap<string, ItemKey>): ItemKey[] {
  return Object.entries(config).flatMap(([name, payload]) =>
    isNothing(payload) ? [] : (catalogue.get(itemOf.get(name) ?? name)?.clears ?? []),
  )
}

function isNothing(payload: Json): boolean {
  return payload === null || (Array.isArray(payload) && payload.length === 0)
}

/** One item as it was seen, or a sentence about why it can't be told. */
function readOne(domain: Domain, spec: ItemSpec, payload: Json, known: Known): ObservedItem | string {
  if (isNothing(payload)) return { held: empty, notVerified: [] }
  const held = known.recorded.get(domain)?.get(spec.key)
  const base = held?.candidates[0] ?? known.desired.get(domain)?.get(spec.key)?.candidates[0]
  const hidden = hiddenFields(spec, base, payload)
  const filled = hidden.reduce<Json>((value, { pointer }) => placed(value, pointer, 'secret'), payload)
  const read = readItem(spec, filled, 'wire', domain)
  const problem = read.problems.find(({ severity, pointer }) => severity === 'error' && !hidden.some((field) => field.pointer === pointer))
  if (problem !== undefined)
    return `${spec.key} of ${domain} is not valid at ${problem.pointer.slice(0, 80) || '/'}; it counts as not observed.`
  const imperative = readItem(spec, filled, 'manifest', domain).problems.find(isImperative)
  if (imperative !== undefined) return `${spec.key} of ${domain} is an action and tells no state; it counts as not observed.`
  const shown = hidden.map(({ pointer }) => pointer)
  if (base !== undefined && !comparable(spec, base, held?.templates ?? {}, shown, known.vault))
    return `${spec.key} of ${domain} holds a secret whose value is not at hand; it counts as not observed.`
  const restored = hidden.reduce<Json>((value, { pointer, secret }) => placed(value, pointer, secret), read.payload)
  const others = [base, known.desired.get(domain)?.get(spec.key)?.candidates[0]].filter((value) => value !== undefined)
  const value = spec.canonical(sealedLike(known.vault.mask(spec.key, restored), others, (text) => known.vault.literal(text)))
  return { held: heldOf(spec, value), notVerified: [...shown, ...keptFields(spec, base, value)].toSorted() }
}

/** Fields that always hold a secret, are known to be there, and are left out or masked in what was seen. */
function hiddenFields(spec: ItemSpec, base: Value | undefined, payload: Json): { pointer: string; secret: Json }[] {
  if (base === undefined) return []
  return secretFields(spec, base).flatMap(({ pointer }) => {
    const parent = atPointer(payload, pointer.slice(0, pointer.lastIndexOf('/')))
    const seen = atPointer(payload, pointer)
    const missing = seen === undefined || seen === null || (typeof seen === 'string' && /^[*•]*$/.test(seen))
    return isObject(parent) && missing ? [{ pointer, secret: atPointer(base, pointer) ?? null }] : []
  })
}

/** Whether every secret that is recorded can be held against what was seen: `hidden` ones are not. */
function comparable(spec: ItemSpec, base: Value, templates: Record<string, string>, hidden: string[], vault: SecretVault): boolean {
  const always = new Set(secretFields(spec, base).map(({ pointer }) => pointer))
  let all = true
  mapSecrets(base, (secret, pointer) => {
    // Of a secret that stands alone the fingerprint tells; of one within a text only the whole text does.
    const alone = always.has(pointer) && secret.startsWith('scrypt:') && !(templates[secret]?.includes('${') ?? false)
    if (!vault.knows(secret) && !hidden.includes(pointer) && !alone) all = false
    return null
  })
  return all
}

/** Fields that the service keeps when a write leaves them out, and that were not shown. */
function keptFields(spec: ItemSpec, base: Value | undefined, value: Value): string[] {
  if (base === undefined || !isObject(base) || !isObject(value)) return []
  return spec.keeps.filter((name) => own(value, name) === undefined && own(base, name) !== undefined).map((name) => `/${name}`)
}

function heldOf(spec: ItemSpec, value: Value): Held {
  return spec.reduce(undefined, value) === undefined ? empty : confirmed(value)
}

/** A copy of a value with something put at a pointer whose parent is there. */
function placed(value: Json, pointer: string, put: Json): Json {
  const [, step = '', ...rest] = pointer.split('/')
  const inner = rest.length === 0 ? () => put : (part: Json) => placed(part, `/${rest.join('/')}`, put)
  if (Array.isArray(value)) return value.map((entry, i) => (String(i) === step ? inner(entry) : entry))
  return isObject(value) ? { ...value, [step]: inner(own(value, step) ?? null) } : value
}

function some(faults: string[]): string[] {
  const rest = faults.length - 5
  return rest > 0 ? [...faults.slice(0, 5), `${rest} more observed items count as not observed for such reasons.`] : faults
}
