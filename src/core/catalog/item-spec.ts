import { isSameJson, isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import type { Form, FormName } from '../model/change.ts'
import {
  isUnset,
  type Domain,
  type FieldName,
  type ItemState,
  type ItemKey,
  type Value,
  type Wire,
} from '../model/item.ts'
import type { Problem } from '../model/problem.ts'
import type { Plain } from '../model/secret.ts'
import type { SchemaError } from '../model/text/schema-fault.ts'
import { canonicalizeBySchema } from './value/canonical.ts'
import type { Observation } from './observation.ts'
import { hasSet, orderLike } from './value/order.ts'
import { hasHiddenField } from './hidden-fields.ts'
import { getAnnotations, type ItemSchema } from './value/item-schema.ts'

/**
 * Group of items that may be sent in one write: `combined`, the eleven items that the
 * specification's examples combine, or an item's own name.
 */
export type GroupName = string

/** Form of a write that sends a part of a value. */
export type DeltaForm = Exclude<FormName, 'replace' | 'unset' | 'delete'>

/** The form of an item in the service's response, if it differs from the submitted form. */
export interface AnswerForm {
  /** Builds the form that the service returns for a payload. */
  build(payload: Wire): Json
  /** Tests whether the service may have returned this answer for the payload. */
  matches(payload: Wire, answer: Json): boolean
}

/** Stages of a request, from the client's connection to the response. */
export const stages = ['connection', 'access', 'redirect', 'cache', 'origin', 'response'] as const
export type Stage = (typeof stages)[number]

/** The rules of one item that its schema can't express. */
export interface ItemSpec {
  key: ItemKey
  group: GroupName
  schema: ItemSchema
  /** Finds all violations of the schema by a value; none in a valid value. */
  findSchemaErrors(value: Json): SchemaError[]
  /**
   * Checks rules across fields of a value that its schema accepts. Pointers are within that value.
   */
  check(value: Json): Problem[]
  /**
   * Returns the canonical form of a desired value or a write payload. Idempotent.
   *
   * @param keepsSets whether sets stay as they are
   */
  canonicalize(value: Json, keepsSets?: boolean): Value
  /**
   * Builds the documented write that leads to `desired` (canonical) from any possible state; null
   * if nothing can or must be sent.
   */
  buildWhole(state: ItemState, desired: Value): Form | null
  /**
   * Builds the smallest documented deltas that together lead to `desired` from a state that is
   * certain, in any order and any number of repetitions; none if only the whole write is safe.
   */
  buildDeltas?(state: ItemState, desired: Value): Form[]
  /** Joins deltas with the same name into one. */
  joinDeltas?(deltas: Form[]): Form
  /** Forms of the deltas that `buildDeltas` builds; required with it. */
  deltaForms: DeltaForm[]
  /** Computes the value at the service after a payload; undefined if the item is empty then. */
  reduce(state: Value | undefined, payload: Wire): Value | undefined
  /**
   * Builds the documented payload that unsets the item; null if there is nothing to unset. Absent
   * if the specification documents none.
   */
  unset?(state: ItemState, domain: Domain): Wire | null
  /** Explains why the item of this domain can't be unset although others can; null if it can. */
  explainNoUnset?(domain: Domain): string | null
  /**
   * Explains why a change to this value is destructive and needs `--allow`, in words that follow
   * the item's name; null if it is not. `after` is null for an unset item.
   */
  explainDestructive?(after: Value | null): string | null
  /** Items that a write of this item empties. */
  clearedItems: ItemKey[]
  /** Fields that the service leaves unchanged when a payload omits them. */
  keptFields: FieldName[]
  /** Whether it has a field that a query never shows, and that a write without it resets. */
  hidesFields: boolean
  /** Whether it has a list whose order has no meaning. */
  hasSet: boolean
  /** Stages of a request in which it is read. */
  stages: readonly Stage[]
  /** Fields that identify an entry of its list of objects; none if no field does. */
  identity: FieldName[]
  /**
   * Converts a payload that was queried from the service to the shape in which it is written.
   * Several written values can come back as the same payload: if the known value is one of them, it
   * is the result. Accepts any JSON value.
   *
   * @param known recorded or sent value; undefined if there is none
   */
  observe(known: Value | undefined, observed: Json): Required<Observation>
  /**
   * The form of the item in the service's response; absent if it is the submitted form
   * (specification, "POST /domain/config", rules 4 and 7).
   */
  answerForm?: AnswerForm
  /**
   * Whether the response to a write of this item lists its domains at the top level instead of
   * inside `data` (specification, "POST /domain/config", rule 5).
   */
  domainsAtTop: boolean
}

/** Traits that follow from the schema. */
type DerivedTrait = 'keptFields' | 'hidesFields' | 'hasSet'

/** A row of the catalogue; omitted traits have their defaults. */
export interface ItemRow extends Partial<
  Omit<
    ItemSpec,
    'key' | 'schema' | 'findSchemaErrors' | 'canonicalize' | 'reduce' | 'observe' | DerivedTrait
  >
> {
  /** Completes the canonical form after the schema's own rules. */
  tidy?: (value: Json) => Value
  /** Its result may be a value that means that the item is not set. */
  reduce?: (state: Value | undefined, payload: Wire) => Value
  /** Absent if a query returns the item as it was written. */
  observe?: (known: Value | undefined, observed: Json) => Observation
}

/** Traits of an array that every write replaces as a whole; an empty array unsets the item. */
export const overwritingList = { unset: () => [] } satisfies ItemRow

/** Casts a value that its item's schema has accepted to the type generated from that. */
export function castAccepted<Given>(value: Json): Given {
  return value as unknown as Given
}

/** Casts a value as checks get it: with a text in place of each secret. */
export function castPlain<Given>(value: Json): Plain<Given> {
  return castAccepted(value)
}

/** Builds the specification of an item from its row and schema. */
export function defineItem(
  key: ItemKey,
  schema: ItemSchema,
  findSchemaErrors: ItemSpec['findSchemaErrors'],
  row: ItemRow,
): ItemSpec {
  const canonicalize = (value: Json, keepsSets?: boolean): Value => {
    const bySchema = canonicalizeBySchema(schema, value, keepsSets)
    return row.tidy === undefined ? bySchema : row.tidy(bySchema)
  }
  const keptFields = Object.entries(schema.properties ?? {})
    .filter(([, field]) => getAnnotations(field).keeps === true)
    .map(([name]) => name)
  const reduce: ItemRow['reduce'] =
    row.reduce ?? ((state, payload) => fillKeptFields(keptFields, canonicalize(payload), state))
  return {
    key,
    group: row.group ?? key,
    schema,
    findSchemaErrors,
    canonicalize,
    check: row.check ?? (() => []),
    buildWhole: row.buildWhole ?? ((_state, desired) => ({ name: 'replace', payload: desired })),
    ...(row.buildDeltas === undefined || row.joinDeltas === undefined
      ? {}
      : { buildDeltas: row.buildDeltas, joinDeltas: row.joinDeltas }),
    deltaForms: row.deltaForms ?? [],
    reduce: (state, payload) => {
      const next = reduce(state, payload)
      return isUnset(next) ? undefined : next
    },
    unset: row.unset,
    explainNoUnset: row.explainNoUnset,
    explainDestructive: row.explainDestructive,
    clearedItems: row.clearedItems ?? [],
    keptFields,
    hidesFields: hasHiddenField(schema),
    hasSet: hasSet(schema),
    stages: row.stages ?? [],
    identity: row.identity ?? [],
    observe: (known, payload) => ({
      payload,
      notVerifiable: [],
      ...row.observe?.(known, payload),
    }),
    answerForm: row.answerForm,
    domainsAtTop: row.domainsAtTop === true,
  }
}

/** Computes the value at the service after a form; undefined if the item is empty then. */
export function reduceForm(
  spec: Pick<ItemSpec, 'reduce'>,
  state: Value | undefined,
  { name, payload }: Form,
): Value | undefined {
  return name === 'delete' ? undefined : spec.reduce(state, payload)
}

/** Picks the fields of a value at the service that it keeps although a written value lacks them. */
export function pickKeptFields(
  keptFields: FieldName[],
  value: Value = null,
  state: Value = null,
): JsonObject {
  if (!isObject(value) || !isObject(state)) return {}
  const kept = keptFields.flatMap((name): [FieldName, Json][] => {
    const known = getOwn(state, name)
    return known === undefined || Object.hasOwn(value, name) ? [] : [[name, known]]
  })
  return Object.fromEntries(kept)
}

/** Fills omitted kept fields of `value` from the state. */
export function fillKeptFields(
  keptFields: FieldName[],
  value: Value,
  state: Value | undefined,
): Value {
  const kept = pickKeptFields(keptFields, value, state)
  return isObject(value) && Object.keys(kept).length > 0 ? { ...value, ...kept } : value
}

/** Returns the only possible value of an item; undefined if it is not certain. */
export function getCertainValue(state: ItemState): Value | undefined {
  return state.status === 'confirmed' && state.returned === undefined
    ? state.candidates[0]
    : undefined
}

/**
 * Converts a returned payload to the shape in which it is written, as `observe`. A field that is
 * never shown stays missing.
 */
export function restoreShape(spec: ItemSpec, observed: Json, known: Value | undefined): Json {
  const { payload, notVerifiable } = spec.observe(known, observed)
  return notVerifiable.length === 0 ? payload : spec.observe(undefined, observed).payload
}

/** Tests whether a value that is written over another one has no effect at the service. */
export function isSameAtService(spec: ItemSpec, before: Value, after: Value): boolean {
  if (isSameJson(before, after)) return true
  const { payload, notVerifiable } = spec.observe(before, after)
  return notVerifiable.length === 0 && isSameJson(spec.canonicalize(payload), before)
}

/**
 * Tests whether a recorded value is the one that the service has. A field that the service keeps
 * and nobody has recorded is unknown, which is no difference.
 */
export function isRecordedValue(spec: ItemSpec, recorded: Value, value: Value): boolean {
  return isSameAtService(spec, fillKeptFields(spec.keptFields, recorded, value), value)
}

/** Orders the sets of a canonical value like those of other values; see `orderLike`. */
export function orderSets(spec: ItemSpec, value: Value, models: (Value | undefined)[]): Value {
  return spec.hasSet ? orderLike(spec.schema, value, models) : value
}
