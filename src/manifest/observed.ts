import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { isImperative } from '../catalog/problems.ts'
import { parseItem, findSecretFields } from '../catalog/parse-item.ts'
import { isDomain } from '../catalog/value/formats.ts'
import { listFieldNames } from '../catalog/value/item-schema.ts'
import { holdsSecrets } from '../catalog/value/schema-problems.ts'
import type { Observed, ObservedItem, Unreadable } from '../model/drift.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { createConfirmedState, unrecordedState } from '../model/item.ts'
import type { Domain, ItemState, ItemKey, Snapshot, Value } from '../model/item.ts'
import {
  resolvePointer,
  isObject,
  getOwn,
  formatPointerStep,
  parsePointer,
  type Json,
} from '../model/json.ts'
import { problemSummaries, type Problem } from '../model/problem.ts'
import { isSecret, mapSecrets } from '../model/secret.ts'
import { sealLike } from './seal-like.ts'
import type { SecretVault } from './secret-vault.ts'

/** What is known of the items without looking at the service. */
export interface KnownItems {
  recorded: Snapshot
  desired: Snapshot
  /** Item → its name on the wire, where the two differ. */
  itemKeys: Record<ItemKey, string>
  vault: SecretVault
}

const empty: ItemState = { status: 'unset', candidates: [] }
/** Characters of a message that a value from outside may fill. */
const maxReason = 200
const maxPointer = 80
const maxDepth = 20

/**
 * Reads what somebody saw at the service, `{domain: {item: payload}}`, as far as it is managed
 * here. An item that is left out was not observed; null, or an empty list, says that nothing is
 * there. A field that always holds a secret counts as recorded where it is left out or masked
 * (`***`), and so does a field that the service keeps. A value that the catalogue refuses, and one
 * that is an action, is unreadable: it was observed, and is no value that could be compared.
 *
 * @returns what was seen, and a sentence about what is not managed
 * @throws EdgewiseError `not-observed` when the data has another shape
 */
export function parseObserved(
  data: Json,
  known: KnownItems,
): { observed: Observed; notes: string[] } {
  if (!isObject(data)) throw wrongShape(`expected an object, got ${wordFor(data)}`)
  const itemOf = new Map(Object.entries(known.itemKeys).map(([item, name]) => [name, item]))
  const observed = new Map<Domain, Map<ItemKey, ObservedItem>>()
  let foreign = 0
  for (const [name, config] of Object.entries(data)) {
    const domain = name.toLowerCase()
    if (!isDomain(domain))
      throw wrongShape(
        `expected names of domains as keys, got ${JSON.stringify(name.slice(0, 80))}`,
      )
    if (!isObject(config))
      throw wrongShape(`expected an object of items under "${domain}", got ${wordFor(config)}`)
    if (observed.has(domain)) throw wrongShape(`the domain "${domain}" stands in it twice`)
    const seen = new Map<ItemKey, ObservedItem>()
    const cleared: ItemKey[] = []
    for (const [wireName, payload] of Object.entries(config)) {
      const item = itemOf.get(wireName) ?? wireName
      if (seen.has(item)) throw wrongShape(`the item "${item}" of "${domain}" stands in it twice`)
      const managed = isManaged(domain, item, known)
      const sight = managed ? readOne(domain, getItemSpec(item), payload, known) : null
      if (sight === null) foreign++
      else seen.set(item, sight)
      cleared.push(...clearedBy(domain, catalogue.get(item), payload, sight))
    }
    for (const item of cleared) {
      if (!seen.has(item) && isManaged(domain, item, known))
        seen.set(item, { state: empty, notVerified: [] })
    }
    observed.set(domain, seen)
  }
  const words = foreign === 1 ? 'item is' : 'items are'
  const note = `${foreign} observed ${words} not managed here and not looked at.`
  return { observed, notes: foreign === 0 ? [] : [note] }
}

function wrongShape(why: string): EdgewiseError {
  return new EdgewiseError(
    'not-observed',
    `what was observed can't be used: ${why}`,
    'Expected {"<domain>": {"<item>": payload}} as JSON.',
  )
}

function wordFor(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
}

function isManaged(domain: Domain, item: ItemKey, { recorded, desired }: KnownItems): boolean {
  return (
    catalogue.has(item) &&
    (recorded.get(domain)?.has(item) === true || desired.get(domain)?.has(item) === true)
  )
}

/** Lists items that can't be there, since this one is surely there and empties them. */
function clearedBy(
  domain: Domain,
  spec: ItemSpec | undefined,
  payload: Json,
  // Null where the item is not managed.
  sight: ObservedItem | null,
): ItemKey[] {
  if (spec === undefined || spec.clearedItems.length === 0 || isNothing(payload)) return []
  if (sight !== null) return sight.state.status === 'confirmed' ? spec.clearedItems : []
  const { value } = parseItem(spec, payload, 'manifest', domain)
  return value !== null && heldOf(spec, value).status === 'confirmed' ? spec.clearedItems : []
}

function isNothing(payload: Json): boolean {
  return payload === null || (Array.isArray(payload) && payload.length === 0)
}

/** Reads one item as it was seen. */
function readOne(domain: Domain, spec: ItemSpec, payload: Json, known: KnownItems): ObservedItem {
  if (isNothing(payload)) return { state: empty, notVerified: [] }
  const held = known.recorded.get(domain)?.get(spec.key)
  const desired = known.desired.get(domain)?.get(spec.key)?.candidates ?? []
  const base = held?.candidates[0] ?? desired[0]
  const hidden = hiddenFields(spec, base, payload)
  const filled = hidden.reduce<Json>(
    (value, { pointer }) => placed(value, pointer, 'secret'),
    payload,
  )
  const read = parseItem(spec, filled, 'wire', domain)
  const problem = read.problems.find(
    ({ severity, pointer }) =>
      severity === 'error' && !hidden.some((field) => field.pointer === pointer),
  )
  const tells = tellsValues(spec, [...(held?.candidates ?? []), ...desired], known.vault)
  if (problem !== undefined) {
    const seen = tells ? problem : redactedProblem(spec, problem, filled, domain)
    return unreadable(refusal(spec, seen, tells, known.vault))
  }
  const imperative = parseItem(spec, filled, 'manifest', domain).problems.find(isImperative)
  const action = 'it is an action and tells no state'
  if (imperative !== undefined) return unreadable({ pointer: imperative.pointer, reason: action })
  const restored = hidden.reduce<Json>(
    (value, { pointer, secret }) => placed(value, pointer, secret),
    read.payload,
  )
  const others = [base, desired[0]].filter((value) => value !== undefined)
  const masked = known.vault.mask(spec.key, restored)
  const sealed = sealLike(masked, others, (text) => known.vault.maskLiteral(text))
  const shown = hidden.map(({ pointer }) => pointer)
  // What was never recorded has no secret that could be the same.
  const uncompared = held === undefined ? [] : uncomparable(spec, held, shown, known.vault)
  const value = spec.canonicalize(uncompared.reduce(withRecorded, spec.canonicalize(sealed)))
  const unsure = uncompared.map(({ pointer }) => pointer)
  const pointers = new Set([...shown, ...unsure, ...keptFields(spec, base, value)])
  const names = [...new Set(uncompared.map(({ reference }) => reference))]
  return {
    state: heldOf(spec, value),
    notVerified: [...pointers].toSorted(),
    ...(names.length === 0 ? {} : { uncompared: names }),
  }
}

function unreadable(why: Unreadable): ObservedItem {
  return { state: unrecordedState, notVerified: [], unreadable: why }
}

/** Whether messages may repeat what was observed: no unknown secret can stand in it. */
function tellsValues(spec: ItemSpec, values: Value[], vault: SecretVault): boolean {
  let secret = holdsSecrets(spec.schema) || vault.listUnresolved().length > 0
  for (const value of values)
    mapSecrets(value, () => {
      secret = true
      return null
    })
  return !secret
}

/** The same problem of the payload without its texts and numbers: any of them may be a secret. */
function redactedProblem(spec: ItemSpec, problem: Problem, payload: Json, domain: Domain): Problem {
  const { problems } = parseItem(spec, redacted(payload), 'wire', domain)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const same = errors.find(({ pointer }) => pointer === problem.pointer)
  return same ?? { ...problem, detail: 'it is not valid (not shown: it may be a secret)' }
}

function redacted(value: Json, depth = 0): Json {
  if (typeof value === 'string' || typeof value === 'number') return '(not shown)'
  // No item nests so deep.
  if (depth > maxDepth) return null
  if (Array.isArray(value)) return value.map((entry) => redacted(entry, depth + 1))
  if (!isObject(value)) return value
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([key, field]) => [key, redacted(field, depth + 1)]))
}

/** Says where a value is refused; repeats what was seen only if it tells no secret. */
function refusal(spec: ItemSpec, problem: Problem, tells: boolean, vault: SecretVault): Unreadable {
  const { code, pointer, detail } = problem
  if (tells) {
    const reason = cut(vault.scrub(detail), maxReason)
    return { pointer: cut(vault.scrub(pointer), maxPointer), reason }
  }
  const names = listFieldNames(spec.schema)
  const steps = parsePointer(pointer)
  const foreign = steps.findIndex((step) => !names.has(step) && !/^\d{1,4}$/.test(step))
  const kept = foreign === -1 ? steps : steps.slice(0, foreign)
  // The detail would name a field that the item does not have.
  const summary = problemSummaries[code]
  const reason = foreign === -1 ? detail : `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`
  return { pointer: kept.map(formatPointerStep).join(''), reason: cut(reason, maxReason) }
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

/**
 * Fields that always hold a secret, are known to be there, and are left out or masked in what was
 * seen.
 */
function hiddenFields(
  spec: ItemSpec,
  base: Value | undefined,
  payload: Json,
): { pointer: string; secret: Json }[] {
  if (base === undefined) return []
  return findSecretFields(spec, base).flatMap(({ pointer }) => {
    const parent = resolvePointer(payload, pointer.slice(0, pointer.lastIndexOf('/')))
    const seen = resolvePointer(payload, pointer)
    const missing =
      seen === undefined || seen === null || (typeof seen === 'string' && /^[*•]*$/.test(seen))
    return isObject(parent) && missing
      ? [{ pointer, secret: resolvePointer(base, pointer) ?? null }]
      : []
  })
}

/** A recorded secret that can't be held against what was seen. */
interface Uncompared {
  pointer: string
  /** As it is recorded. */
  secret: Json
  /** A name, or a template around names. */
  reference: string
}

/** Lists the recorded secrets that can't be compared since their values are not at hand. */
function uncomparable(
  spec: ItemSpec,
  held: ItemState,
  // Pointers of fields that were not shown.
  hidden: string[],
  vault: SecretVault,
): Uncompared[] {
  const {
    candidates: [base = null],
    templates = {},
  } = held
  const always = new Set(findSecretFields(spec, base).map(({ pointer }) => pointer))
  const found: Uncompared[] = []
  mapSecrets(base, (secret, pointer) => {
    // Of a secret that stands alone the fingerprint tells; of one within a text only the whole text
    // does.
    const alone =
      always.has(pointer) &&
      secret.startsWith('scrypt:') &&
      !(templates[secret]?.includes('${') ?? false)
    if (vault.knows(secret) || hidden.includes(pointer) || alone) return null
    const reference = templates[secret] ?? 'written out in a manifest'
    found.push({ pointer, secret: { $secret: secret }, reference })
    return null
  })
  return found
}

/** Puts a secret that can't be compared in the place of the text that was seen there. */
function withRecorded(value: Json, { pointer, secret }: Uncompared): Json {
  const seen = resolvePointer(value, pointer)
  return typeof seen === 'string' || isSecret(seen) ? placed(value, pointer, secret) : value
}

/** Fields that the service keeps when a write leaves them out, and that were not shown. */
function keptFields(spec: ItemSpec, base: Value | undefined, value: Value): string[] {
  if (base === undefined || !isObject(base) || !isObject(value)) return []
  return spec.keptFields
    .filter((name) => getOwn(value, name) === undefined && getOwn(base, name) !== undefined)
    .map((name) => `/${name}`)
}

function heldOf(spec: ItemSpec, value: Value): ItemState {
  return spec.reduce(undefined, value) === undefined ? empty : createConfirmedState(value)
}

/** A copy of a value with something put at a pointer whose parent is there. */
function placed(value: Json, pointer: string, put: Json): Json {
  const [, step = '', ...rest] = pointer.split('/')
  const inner =
    rest.length === 0 ? () => put : (part: Json) => placed(part, `/${rest.join('/')}`, put)
  if (Array.isArray(value))
    return value.map((entry, i) => (String(i) === step ? inner(entry) : entry))
  return isObject(value) ? { ...value, [step]: inner(getOwn(value, step) ?? null) } : value
}
