import type { Form } from '../model/change.ts'
import type { Domain, FieldName, ItemState, ItemKey, Value, Wire } from '../model/item.ts'
import { isObject, getOwn, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { canonicalizeBySchema } from './value/canonical.ts'
import { getAnnotations, type ItemSchema } from './value/item-schema.ts'

/**
 * Items of one group may travel in one write: `combined`, the eleven that the specification's
 * examples combine, or an item's own name.
 */
export type GroupName = string

/** How the service returns an item, where that is not as it was submitted. */
export interface AnswerForm {
  /** Builds what the service returns for a payload. */
  build(payload: Wire): Json
  /** Whether the service may have returned this for the payload. */
  matches(payload: Wire, answer: Json): boolean
}

/** Everything that is particular to one item and that its schema can't say. */
export interface ItemSpec {
  key: ItemKey
  group: GroupName
  schema: ItemSchema
  /**
   * Rules that cross fields, on a value that its schema accepts. Pointers are within the value as
   * it was given.
   */
  check(value: Json, domain: Domain): Problem[]
  /** Whether `check` may find other problems in the same value for another domain. */
  dependsOnDomain: boolean
  /** The one form of equal values. Takes desired values and write payloads alike; idempotent. */
  canonicalize(value: Json): Value
  /**
   * The documented write that leads to `desired` (canonical) from whatever may be held; null when
   * nothing can or need be sent.
   */
  buildWhole(held: ItemState, desired: Value): Form | null
  /**
   * The smallest documented deltas that together lead to `desired` from the one value that is
   * surely held, in any order and each as often as one likes; none where only the whole write is
   * sure.
   */
  buildDeltas?(held: ItemState, desired: Value): Form[]
  /** One delta that does what all of these do. They have one name. */
  joinDeltas?(buildDeltas: Form[]): Form
  /** What the service holds after this payload; undefined when the item is then empty. */
  reduce(held: Value | undefined, payload: Wire): Value | undefined
  /** The documented way back, where there is one; null when there is nothing to take back. */
  unset?(held: ItemState, domain: Domain): Wire | null
  /**
   * Why a change to this value is made only when the user allows it by the item's name, in words
   * that follow the name; null when it needs no leave. `after` is null where the item is unset.
   */
  explainDestructive?(after: Value | null): string | null
  /** Items that a write of this one empties. */
  clearedItems: ItemKey[]
  /** Fields that the service leaves alone when a payload omits them. */
  keptFields: FieldName[]
  /**
   * The form in which the service returns the item; left out where it is the one submitted
   * (specification, "POST /domain/config", rules 4 and 7).
   */
  answerForm?: AnswerForm
  /**
   * Whether the answer to a write of this item lists its domains beside `data`, not inside it
   * (specification, "POST /domain/config", rule 5).
   */
  domainsAtTop: boolean
}

/**
 * What a row of the catalogue says about an item; what it leaves out is as for most items.
 * A check gets the domain only if its row says that it depends on it.
 */
export type ItemRow = RowTraits & (PlainCheck | DomainCheck)

interface PlainCheck {
  dependsOnDomain?: false
  check?: (value: Json) => Problem[]
}

interface DomainCheck {
  dependsOnDomain: true
  check: (value: Json, domain: Domain) => Problem[]
}

interface RowTraits {
  group?: GroupName
  /** What is left to do after the schema's own canonical form. */
  tidy?: (value: Json) => Value
  buildWhole?: ItemSpec['buildWhole']
  buildDeltas?: ItemSpec['buildDeltas']
  joinDeltas?: ItemSpec['joinDeltas']
  reduce?: ItemSpec['reduce']
  unset?: ItemSpec['unset']
  explainDestructive?: ItemSpec['explainDestructive']
  clearedItems?: ItemKey[]
  answerForm?: ItemSpec['answerForm']
  domainsAtTop?: boolean
  /** True for a canonical value with which the item is as good as absent, e.g. an emptied list. */
  isEmpty?: (value: Value) => boolean
}

/** Completes a row of the catalogue. */
export function defineItem(key: ItemKey, schema: ItemSchema, row: ItemRow): ItemSpec {
  const canonicalize = (value: Json): Value => {
    const bySchema = canonicalizeBySchema(schema, value)
    return row.tidy === undefined ? bySchema : row.tidy(bySchema)
  }
  const keptFields = Object.entries(schema.properties ?? {})
    .filter(([, field]) => getAnnotations(field).keeps === true)
    .map(([name]) => name)
  return {
    key,
    group: row.group ?? key,
    schema,
    canonicalize,
    check: row.dependsOnDomain === true ? row.check : (value) => row.check?.(value) ?? [],
    dependsOnDomain: row.dependsOnDomain === true,
    buildWhole: row.buildWhole ?? ((_held, desired) => ({ name: 'replace', payload: desired })),
    ...(row.buildDeltas === undefined || row.joinDeltas === undefined
      ? {}
      : { buildDeltas: row.buildDeltas, joinDeltas: row.joinDeltas }),
    reduce:
      row.reduce ??
      ((held, payload) => {
        const next = fillKeptFields(keptFields, canonicalize(payload), held)
        return row.isEmpty?.(next) === true ? undefined : next
      }),
    unset: row.unset,
    explainDestructive: row.explainDestructive,
    clearedItems: row.clearedItems ?? [],
    keptFields,
    answerForm: row.answerForm,
    domainsAtTop: row.domainsAtTop === true,
  }
}

/** `value` with the kept fields that it leaves out taken from what is held. */
export function fillKeptFields(keeps: FieldName[], value: Value, held: Value | undefined): Value {
  if (keeps.length === 0 || !isObject(value) || held === undefined || !isObject(held)) return value
  const kept = keeps.filter((name) => !Object.hasOwn(value, name) && Object.hasOwn(held, name))
  return kept.length === 0
    ? value
    : { ...value, ...Object.fromEntries(kept.map((name) => [name, getOwn(held, name) ?? null])) }
}

/** The only value that an item is known to hold, or undefined when that is not certain. */
export function getCertainValue(held: ItemState): Value | undefined {
  return held.status === 'confirmed' && held.returned === undefined ? held.candidates[0] : undefined
}
