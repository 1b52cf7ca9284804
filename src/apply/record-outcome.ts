import { itemSpec } from '../catalog/catalogue.ts'
import { sameJson } from '../model/canonical-json.ts'
import type { Form } from '../model/change.ts'
import type { FieldName, ItemKey, Value } from '../model/item.ts'
import { isObject } from '../model/json.ts'
import type { RecordedItem } from '../state/record.ts'

type Items = ReadonlyMap<ItemKey, RecordedItem>
type Possible = Value | undefined

/** When and by whom something is recorded, and what else belongs to a value. */
export interface Recording {
  at: string
  apply: string
  /** Templates of the secrets in a value, by fingerprint. */
  templatesOf(value: Value): Record<string, string>
}

/** What a domain may hold while a write of these forms is under way: old and new value are candidates. */
export function withIntents(before: Items, forms: Record<ItemKey, Form>, recording: Recording): Map<ItemKey, RecordedItem> {
  const items = new Map(before)
  for (const [item, form] of Object.entries(forms)) {
    const spec = itemSpec(item)
    const old = possible(before.get(item))
    items.set(item, inDoubt([...old, ...old.map((value) => spec.reduce(value, form.payload))], recording))
    for (const cleared of spec.clears) {
      const held = before.get(cleared)
      if (held !== undefined) items.set(cleared, inDoubt([...possible(held), undefined], recording))
    }
  }
  return items
}

/** What a domain holds after a write was confirmed. `returned` is what the service answered, where it differs. */
export function withConfirmed(
  before: Items,
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Value>,
  recording: Recording,
): Map<ItemKey, RecordedItem> {
  const items = new Map(before)
  for (const [item, form] of Object.entries(forms)) {
    const spec = itemSpec(item)
    for (const cleared of spec.clears) items.delete(cleared)
    const held = withoutUncertain(
      spec.keeps,
      possible(before.get(item)).map((value) => spec.reduce(value, form.payload)),
    )
    const answered = returned[item]
    items.set(item, {
      ...confirmedItem(held, form, recording),
      ...(answered === undefined ? {} : { returned: answered }),
    })
  }
  return items
}

function confirmedItem(held: Possible[], form: Form, recording: Recording): RecordedItem {
  const [value, ...others] = distinct(held)
  if (others.length > 0) return inDoubt(held, recording)
  const about = { at: recording.at, apply: recording.apply, origin: 'write' as const }
  if (value === undefined) return { status: 'unset', candidates: [], ...about }
  const templates = recording.templatesOf(value)
  const status = form.name === 'unset' ? 'unset' : 'confirmed'
  return { status, candidates: [value], ...(Object.keys(templates).length === 0 ? {} : { templates }), ...about }
}

function inDoubt(values: Possible[], recording: Recording): RecordedItem {
  const candidates = distinct(values).filter((value) => value !== undefined)
  const templates = Object.assign({}, ...candidates.map((value) => recording.templatesOf(value))) as Record<string, string>
  return {
    status: 'in-doubt',
    candidates,
    ...(values.includes(undefined) ? { unknown: true } : {}),
    ...(Object.keys(templates).length === 0 ? {} : { templates }),
    at: recording.at,
    apply: recording.apply,
    origin: 'write',
  }
}

/** Everything that a recorded item may hold; undefined for nothing, or nothing known. */
function possible(held: RecordedItem | undefined): Possible[] {
  if (held === undefined || held.candidates.length === 0) return [undefined]
  return held.unknown === true ? [...held.candidates, undefined] : held.candidates
}

/** Fields that the service keeps, and that are not the same in all possible values, are no longer known. */
function withoutUncertain(keeps: FieldName[], values: Possible[]): Possible[] {
  if (keeps.length === 0 || distinct(values).length < 2) return values
  const uncertain = keeps.filter((name) => distinct(values.map((value) => (isObject(value) ? value[name] : undefined))).length > 1)
  return values.map((value) => {
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => !uncertain.includes(name)))
  })
}

function distinct(values: Possible[]): Possible[] {
  return values.filter((value, i) => values.findIndex((other) => sameJson(other, value)) === i)
}
