import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { isImperative } from '../catalog/problems.ts'
import { parseItem, findSecretFields } from '../catalog/parse-item.ts'
import { isDomain } from '../catalog/value/formats.ts'
import type { Observed, ObservedItem, Unreadable } from '../model/drift.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { createConfirmedState, unrecordedState } from '../model/item.ts'
import type { Domain, ItemState, ItemKey, Snapshot, Value } from '../model/item.ts'
import { resolvePointer, isObject, getOwn, type Json } from '../model/json.ts'
import { isSecret, mapSecrets } from '../model/secret.ts'
import { sealLike } from './seal-like.ts'
import type { SecretVault } from './secret-vault.ts'
import { describeRefusal, isSafeToShow, redactProblem } from './unreadable-value.ts'

/** Recorded and desired items, as context for observed ones. */
export interface KnownItems {
  recorded: Snapshot
  desired: Snapshot
  /** Item → wire name, where they differ. */
  itemKeys: Record<ItemKey, string>
  vault: SecretVault
}

const unsetState: ItemState = { status: 'unset', candidates: [] }
/**
 * Parses an observed configuration, `{domain: {item: payload}}`, and keeps the managed items. A
 * missing item was not observed; null or an empty list means that the item is not set. A secret
 * field that is missing or masked (`***`) is assumed as recorded, and so is a missing field that
 * the service keeps. A value that the catalogue refuses, or that is an action, is unreadable: it
 * was observed, but can't be compared.
 *
 * @returns the observed items, and a note about those that are not managed
 * @throws EdgewiseError `not-observed` if the data has another shape
 */
export function parseObserved(
  data: Json,
  known: KnownItems,
): { observed: Observed; notes: string[] } {
  if (!isObject(data)) throw createShapeError(`expected an object, got ${describeType(data)}`)
  const itemByWireName = new Map(Object.entries(known.itemKeys).map(([item, name]) => [name, item]))
  const observed = new Map<Domain, Map<ItemKey, ObservedItem>>()
  let foreign = 0
  for (const [name, config] of Object.entries(data)) {
    const domain = name.toLowerCase()
    if (!isDomain(domain))
      throw createShapeError(
        `expected domain names as keys, got ${JSON.stringify(name.slice(0, 80))}`,
      )
    if (!isObject(config))
      throw createShapeError(
        `expected an object of items under "${domain}", got ${describeType(config)}`,
      )
    if (observed.has(domain)) throw createShapeError(`the domain "${domain}" occurs twice`)
    const seen = new Map<ItemKey, ObservedItem>()
    const cleared: ItemKey[] = []
    for (const [wireName, payload] of Object.entries(config)) {
      const item = itemByWireName.get(wireName) ?? wireName
      if (seen.has(item)) throw createShapeError(`the item "${item}" of "${domain}" occurs twice`)
      const managed = isManaged(domain, item, known)
      const observedItem = managed
        ? parseObservedItem(domain, getItemSpec(item), payload, known)
        : null
      if (observedItem === null) foreign++
      else seen.set(item, observedItem)
      cleared.push(...listCleared(domain, catalogue.get(item), payload, observedItem))
    }
    for (const item of cleared) {
      if (!seen.has(item) && isManaged(domain, item, known))
        seen.set(item, { state: unsetState, notVerified: [] })
    }
    observed.set(domain, seen)
  }
  const verb = foreign === 1 ? 'item is' : 'items are'
  const note = `${foreign} observed ${verb} not managed here and were ignored.`
  return { observed, notes: foreign === 0 ? [] : [note] }
}

function createShapeError(reason: string): EdgewiseError {
  return new EdgewiseError(
    'not-observed',
    `the observed configuration can't be used: ${reason}`,
    'Expected {"<domain>": {"<item>": payload}} as JSON.',
  )
}

function describeType(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function isManaged(domain: Domain, item: ItemKey, { recorded, desired }: KnownItems): boolean {
  return (
    catalogue.has(item) &&
    (recorded.get(domain)?.has(item) === true || desired.get(domain)?.has(item) === true)
  )
}

/** Lists the items that this observed item empties. */
function listCleared(
  domain: Domain,
  spec: ItemSpec | undefined,
  payload: Json,
  // Null if the item is not managed.
  observedItem: ObservedItem | null,
): ItemKey[] {
  if (spec === undefined || spec.clearedItems.length === 0 || isEmpty(payload)) return []
  if (observedItem !== null)
    return observedItem.state.status === 'confirmed' ? spec.clearedItems : []
  const { value } = parseItem(spec, payload, 'manifest', domain)
  return value !== null && toState(spec, value).status === 'confirmed' ? spec.clearedItems : []
}

function isEmpty(payload: Json): boolean {
  return payload === null || (Array.isArray(payload) && payload.length === 0)
}

/** Parses one observed item. */
function parseObservedItem(
  domain: Domain,
  spec: ItemSpec,
  payload: Json,
  known: KnownItems,
): ObservedItem {
  if (isEmpty(payload)) return { state: unsetState, notVerified: [] }
  const state = known.recorded.get(domain)?.get(spec.key)
  const desired = known.desired.get(domain)?.get(spec.key)?.candidates ?? []
  const baseValue = state?.candidates[0] ?? desired[0]
  const hidden = findHiddenFields(spec, baseValue, payload)
  const filled = hidden.reduce<Json>(
    (value, { pointer }) => setAtPointer(value, pointer, 'secret'),
    payload,
  )
  const parsed = parseItem(spec, filled, 'wire', domain)
  const problem = parsed.problems.find(
    ({ severity, pointer }) =>
      severity === 'error' && !hidden.some((field) => field.pointer === pointer),
  )
  const isSafe = isSafeToShow(spec, [...(state?.candidates ?? []), ...desired], known.vault)
  if (problem !== undefined) {
    const safeProblem = isSafe ? problem : redactProblem(spec, problem, filled, domain)
    return createUnreadable(describeRefusal(spec, safeProblem, isSafe, known.vault))
  }
  const imperative = parseItem(spec, filled, 'manifest', domain).problems.find(isImperative)
  const action = 'it is an action, not a state'
  if (imperative !== undefined)
    return createUnreadable({ pointer: imperative.pointer, reason: action })
  const restored = hidden.reduce<Json>(
    (value, { pointer, secret }) => setAtPointer(value, pointer, secret),
    parsed.payload,
  )
  const others = [baseValue, desired[0]].filter((value) => value !== undefined)
  const masked = known.vault.mask(spec.key, restored)
  const sealed = sealLike(masked, others, (text) => known.vault.maskLiteral(text))
  const hiddenPointers = hidden.map(({ pointer }) => pointer)
  // An item without state has no recorded secret to compare with.
  const notCompared =
    state === undefined ? [] : findUncomparable(spec, state, hiddenPointers, known.vault)
  const value = spec.canonicalize(notCompared.reduce(insertRecorded, spec.canonicalize(sealed)))
  const unsure = notCompared.map(({ pointer }) => pointer)
  const pointers = new Set([
    ...hiddenPointers,
    ...unsure,
    ...listKeptFields(spec, baseValue, value),
  ])
  const names = [...new Set(notCompared.map(({ reference }) => reference))]
  return {
    state: toState(spec, value),
    notVerified: [...pointers].toSorted(),
    ...(names.length === 0 ? {} : { uncompared: names }),
  }
}

function createUnreadable(reason: Unreadable): ObservedItem {
  return { state: unrecordedState, notVerified: [], unreadable: reason }
}

/** Finds the secret fields of `baseValue` that are missing or masked in the observed payload. */
function findHiddenFields(
  spec: ItemSpec,
  baseValue: Value | undefined,
  payload: Json,
): { pointer: string; secret: Json }[] {
  if (baseValue === undefined) return []
  return findSecretFields(spec, baseValue).flatMap(({ pointer }) => {
    const parent = resolvePointer(payload, pointer.slice(0, pointer.lastIndexOf('/')))
    const seen = resolvePointer(payload, pointer)
    const missing =
      seen === undefined || seen === null || (typeof seen === 'string' && /^[*•]*$/.test(seen))
    return isObject(parent) && missing
      ? [{ pointer, secret: resolvePointer(baseValue, pointer) ?? null }]
      : []
  })
}

/** A recorded secret that can't be compared with the observed value. */
interface Uncompared {
  pointer: string
  /** The recorded secret. */
  secret: Json
  /** A name, or a template with names. */
  reference: string
}

/**
 * Finds the recorded secrets that can't be compared because their values are not available.
 *
 * @param hidden pointers of fields that were not shown
 */
function findUncomparable(
  spec: ItemSpec,
  state: ItemState,
  hidden: string[],
  vault: SecretVault,
): Uncompared[] {
  const {
    candidates: [baseValue = null],
    templates = {},
  } = state
  const always = new Set(findSecretFields(spec, baseValue).map(({ pointer }) => pointer))
  const found: Uncompared[] = []
  mapSecrets(baseValue, (secret, pointer) => {
    // The fingerprint of a secret field can be compared alone; of a secret within a text, only the
    // fingerprint of the whole text can.
    const isAlone =
      always.has(pointer) &&
      secret.startsWith('scrypt:') &&
      !(templates[secret]?.includes('${') ?? false)
    if (vault.knows(secret) || hidden.includes(pointer) || isAlone) return null
    const reference = templates[secret] ?? 'written out in a manifest'
    found.push({ pointer, secret: { $secret: secret }, reference })
    return null
  })
  return found
}

/** Replaces the observed text at the place of a secret that can't be compared with that secret. */
function insertRecorded(value: Json, { pointer, secret }: Uncompared): Json {
  const seen = resolvePointer(value, pointer)
  return typeof seen === 'string' || isSecret(seen) ? setAtPointer(value, pointer, secret) : value
}

/** Lists fields that the service keeps when a write omits them, and that were not shown. */
function listKeptFields(spec: ItemSpec, baseValue: Value | undefined, value: Value): string[] {
  if (baseValue === undefined || !isObject(baseValue) || !isObject(value)) return []
  return spec.keptFields
    .filter((name) => getOwn(value, name) === undefined && getOwn(baseValue, name) !== undefined)
    .map((name) => `/${name}`)
}

function toState(spec: ItemSpec, value: Value): ItemState {
  return spec.reduce(undefined, value) === undefined ? unsetState : createConfirmedState(value)
}

/** Returns a copy of a value with another part at a pointer whose parent exists. */
function setAtPointer(value: Json, pointer: string, replacement: Json): Json {
  const [, step = '', ...rest] = pointer.split('/')
  const inner =
    rest.length === 0
      ? () => replacement
      : (part: Json) => setAtPointer(part, `/${rest.join('/')}`, replacement)
  if (Array.isArray(value))
    return value.map((entry, i) => (String(i) === step ? inner(entry) : entry))
  return isObject(value) ? { ...value, [step]: inner(getOwn(value, step) ?? null) } : value
}
