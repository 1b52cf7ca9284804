import { getItemSpec } from '../catalog/catalogue.ts'
import { isSameJson } from '../model/canonical-json.ts'
import type { Form } from '../model/change.ts'
import type { FieldName, ItemKey, Value } from '../model/item.ts'
import { isObject } from '../model/json.ts'
import { mapSecrets } from '../model/secret.ts'
import type { RecordedItem } from '../state/store.ts'
import type { SecretPort } from '../model/secret-keeper.ts'

type Items = ReadonlyMap<ItemKey, RecordedItem>
type Possible = Value | undefined

/** When and by whom something is recorded, and what else belongs to a value. */
export interface Recording {
  recordedAt: string
  apply: string
  secrets: Pick<SecretPort, 'listTemplates'>
}

/**
 * What a domain may hold while a write of these forms is under way: old and new value are
 * candidates.
 */
export function withIntents(
  before: Items,
  forms: Record<ItemKey, Form>,
  recording: Recording,
): Map<ItemKey, RecordedItem> {
  const items = new Map(before)
  for (const [item, form] of Object.entries(forms)) {
    const spec = getItemSpec(item)
    const old = possible(before.get(item))
    const values = [...old, ...old.map((value) => spec.reduce(value, form.payload))]
    items.set(item, inDoubt(values, recording, before.get(item)))
    for (const cleared of spec.clearedItems) {
      const held = before.get(cleared)
      if (held === undefined) continue
      items.set(cleared, inDoubt([...possible(held), undefined], recording, held))
    }
  }
  return items
}

/**
 * What a domain holds after a write was confirmed. `returned` is what the service answered, where
 * it differs.
 */
export function withConfirmed(
  before: Items,
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Value>,
  recording: Recording,
): Map<ItemKey, RecordedItem> {
  const items = new Map(before)
  for (const [item, form] of Object.entries(forms)) {
    const spec = getItemSpec(item)
    for (const cleared of spec.clearedItems) items.delete(cleared)
    const held = withoutUncertain(
      spec.keptFields,
      possible(before.get(item)).map((value) => spec.reduce(value, form.payload)),
    )
    const answered = returned[item]
    items.set(item, {
      ...confirmedItem(held, form, recording, before.get(item)),
      ...(answered === undefined ? {} : { returned: answered }),
    })
  }
  return items
}

type Was = RecordedItem | undefined

function confirmedItem(held: Possible[], form: Form, recording: Recording, was: Was): RecordedItem {
  const [value, ...others] = distinct(held)
  if (others.length > 0) return inDoubt(held, recording, was)
  const about = { at: recording.recordedAt, apply: recording.apply, origin: 'write' as const }
  if (value === undefined) return { status: 'unset', candidates: [], ...about }
  const templates = templatesIn([value], recording, was)
  const status = form.name === 'unset' ? 'unset' : 'confirmed'
  return {
    status,
    candidates: [value],
    ...(Object.keys(templates).length === 0 ? {} : { templates }),
    ...about,
  }
}

function inDoubt(values: Possible[], recording: Recording, was: Was): RecordedItem {
  const candidates = distinct(values).filter((value) => value !== undefined)
  const templates = templatesIn(candidates, recording, was)
  return {
    status: 'in-doubt',
    candidates,
    ...(values.includes(undefined) ? { unknown: true } : {}),
    ...(Object.keys(templates).length === 0 ? {} : { templates }),
    at: recording.recordedAt,
    apply: recording.apply,
    origin: 'write',
  }
}

/**
 * Collects the templates of the secrets in some values. A secret that a write leaves as it is may
 * not be at hand in this process: what it was made from is then known from before.
 */
function templatesIn(values: Value[], recording: Recording, was: Was): Record<string, string> {
  const templates: Record<string, string> = {}
  for (const value of values) {
    mapSecrets(value, (secret) => {
      const template = was?.templates?.[secret]
      if (template !== undefined) templates[secret] = template
      return null
    })
    Object.assign(templates, recording.secrets.listTemplates(value))
  }
  return templates
}

/** Everything that a recorded item may hold; undefined for nothing, or nothing known. */
function possible(held: RecordedItem | undefined): Possible[] {
  if (held === undefined || held.candidates.length === 0) return [undefined]
  return held.unknown === true ? [...held.candidates, undefined] : held.candidates
}

/**
 * Fields that the service keeps, and that are not the same in all possible values, are no longer
 * known.
 */
function withoutUncertain(keeps: FieldName[], values: Possible[]): Possible[] {
  if (keeps.length === 0 || distinct(values).length < 2) return values
  const uncertain = keeps.filter(
    (name) =>
      distinct(values.map((value) => (isObject(value) ? value[name] : undefined))).length > 1,
  )
  return values.map((value) => {
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => !uncertain.includes(name)))
  })
}

function distinct(values: Possible[]): Possible[] {
  return values.filter((value, i) => values.findIndex((other) => isSameJson(other, value)) === i)
}
