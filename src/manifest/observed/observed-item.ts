import { listOmittedHidden } from '../../core/catalog/hidden-fields.ts'
import { pickKeptFields, type ItemSpec } from '../../core/catalog/item-spec.ts'
import { omitFields } from '../../core/catalog/observation.ts'
import { findSecretFields, parseItem } from '../../core/catalog/parse-item.ts'
import { isImperative } from '../../core/catalog/problems.ts'
import type { ObservedItem, Unreadable } from '../../core/model/drift.ts'
import {
  createItemState,
  isUnset,
  unrecordedState,
  unsetState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../core/model/item.ts'
import {
  resolvePointer,
  isObject,
  formatPointerStep,
  getOwn,
  type Json,
} from '../../core/model/json.ts'
import { findTemplate, isSecret, mapSecrets } from '../../core/model/secret.ts'
import type { Maker, SecretVault } from '../secrets/secret-vault.ts'
import { describeProblem } from './unreadable-value.ts'

/** Recorded and desired items, as context for observed ones. */
export interface KnownItems {
  recorded: Snapshot
  desired: Snapshot
  /** Item → wire name, where they differ. */
  itemKeys: Record<ItemKey, string>
  vault: SecretVault
  /** Who made the observed configuration. */
  maker: Maker
}

/** Parses one observed item. */
export function parseObservedItem(
  domain: Domain,
  spec: ItemSpec,
  observed: Json,
  known: KnownItems,
): ObservedItem {
  const state = known.recorded.get(domain)?.get(spec.key)
  const desired = known.desired.get(domain)?.get(spec.key)?.candidates ?? []
  const baseValue = state?.candidates[0] ?? desired[0]
  // A value that comes back as no item is there only if it was recorded.
  const expected = observed === null ? state?.candidates[0] : baseValue
  const { payload: shown, notVerifiable } = spec.observe(expected, observed)
  if (!isObject(shown) && isUnset(shown)) return { state: unsetState, notVerifiable: [] }
  const payload = dropUnnamed(spec, baseValue, shown)
  const hidden = findHiddenFields(spec, baseValue, payload)
  const filled = hidden.reduce<Json>(
    (value, { pointer }) => setAtPointer(value, pointer, 'secret'),
    payload,
  )
  const parsed = parseItem(spec, filled, 'wire')
  const problem = parsed.problems.find(
    ({ severity, pointer }) =>
      severity === 'error' && !hidden.some((field) => field.pointer === pointer),
  )
  const models = [...(state?.candidates ?? []), ...desired]
  if (problem !== undefined)
    return createUnreadable(describeProblem(spec, problem, filled, models, known))
  const imperative = parseItem(spec, filled, 'manifest').problems.find(isImperative)
  const action = 'it is an action, not a state'
  if (imperative !== undefined)
    return createUnreadable({ pointer: imperative.pointer, reason: action })
  const restored = hidden.reduce<Json>(
    (value, { pointer, secret }) => setAtPointer(value, pointer, secret),
    parsed.payload,
  )
  const sealed = known.vault.mask(spec.key, restored, models, known.maker)
  const hiddenPointers = hidden.map(({ pointer }) => pointer)
  // An item without state has no recorded secret to compare with.
  const notCompared =
    state === undefined ? [] : findUncomparable(spec, state, hiddenPointers, known.vault)
  const value = spec.canonicalize(notCompared.reduce(insertRecorded, spec.canonicalize(sealed)))
  const unsure = notCompared.map(({ pointer }) => pointer)
  const pointers = new Set([
    ...notVerifiable,
    ...listOmittedHidden(spec, parsed.payload),
    ...hiddenPointers,
    ...unsure,
    ...Object.keys(pickKeptFields(spec.keptFields, value, baseValue)).map(formatPointerStep),
  ])
  const names = [...new Set(notCompared.map(({ reference }) => reference))]
  return {
    state: createItemState(value),
    notVerifiable: [...pointers].toSorted(),
    ...(names.length === 0 ? {} : { uncompared: names }),
  }
}

function createUnreadable(reason: Unreadable): ObservedItem {
  return { state: unrecordedState, notVerifiable: [], unreadable: reason }
}

/** Drops fields that writes may omit and the base value does not name: they are not managed. */
function dropUnnamed(spec: ItemSpec, baseValue: Value | undefined, payload: Json): Json {
  const unnamed = Object.keys(pickKeptFields(spec.keptFields, baseValue, payload))
  return isObject(payload) ? omitFields(payload, unnamed) : payload
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
      !(findTemplate(templates, secret)?.includes('${') ?? false)
    if (vault.knows(secret) || hidden.includes(pointer) || isAlone) return null
    const reference = findTemplate(templates, secret) ?? 'written out in a manifest'
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
