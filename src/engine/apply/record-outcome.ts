import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { reduceForm } from '../../core/catalog/item-spec.ts'
import { listClearedItems, type ItemKeys } from '../../core/catalog/wire-names.ts'
import { isSameJson, isObject } from '../../core/model/json.ts'
import type { Form } from '../../core/model/change.ts'
import {
  listPossible,
  pickWritten,
  unsetState,
  type Domain,
  type FieldName,
  type ItemKey,
  type Possible,
  type Value,
} from '../../core/model/item.ts'
import { findTemplate, listSecrets, type SecretPort } from '../../core/model/secret.ts'
import type { RecordedItem } from '../../state/store/store.ts'

type Items = ReadonlyMap<ItemKey, RecordedItem>
/** Time and apply of a recording, and the templates of secrets. */
export interface Recording {
  recordedAt: string
  /** The same time by the service's clock; absent if it is unknown. */
  serviceAt?: string
  apply: string
  secrets: Pick<SecretPort, 'listTemplates'>
  /** Names of items on the wire, where they differ. */
  itemKeys: ItemKeys
  /** Lists `writtenFields` of the change of an item. */
  listWritten?(domain: Domain, item: ItemKey): FieldName[] | undefined
  /** The last call was answered, so it can't take effect later. */
  answered?: true
}

/**
 * Returns the possible state of a domain while a write is in flight: old and new values are
 * candidates.
 */
export function withIntents(
  before: Items,
  forms: Record<ItemKey, Form>,
  recording: Recording,
  domain: Domain = '',
): Map<ItemKey, RecordedItem> {
  const items = new Map(before)
  for (const [item, form] of Object.entries(forms)) {
    const spec = getItemSpec(item)
    const previous = before.get(item)
    const old = listPossible(previous)
    const values = [...old, ...old.map((value) => reduceForm(spec, value, form))]
    items.set(item, {
      ...createInDoubt(values, recording, previous),
      ...pickWritten(previous?.writtenFields, recording.listWritten?.(domain, item)),
    })
    for (const cleared of listCleared(item, form, recording)) {
      const state = before.get(cleared)
      if (state === undefined) continue
      items.set(cleared, createInDoubt([...listPossible(state), undefined], recording, state))
    }
  }
  return items
}

/**
 * Returns the state of a domain after a confirmed write. `returned`: answered values that differ.
 */
export function withConfirmed(
  before: Items,
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Value>,
  recording: Recording,
  domain: Domain = '',
): Map<ItemKey, RecordedItem> {
  const items = new Map(before)
  for (const [item, form] of Object.entries(forms)) {
    const spec = getItemSpec(item)
    for (const cleared of listCleared(item, form, recording))
      // What is unset already stays so.
      if (items.get(cleared)?.status !== 'unset') items.delete(cleared)
    const values = removeUncertain(
      spec.keptFields,
      listPossible(before.get(item)).map((value) => reduceForm(spec, value, form)),
    )
    const answered = returned[item]
    items.set(item, {
      ...createConfirmed(values, form, recording, before.get(item)),
      ...pickWritten(recording.listWritten?.(domain, item)),
      ...(answered === undefined ? {} : { returned: answered }),
    })
  }
  return items
}

/** Lists the items that a form of an item empties: a DELETE none. */
function listCleared(item: ItemKey, form: Form, { itemKeys }: Recording): ItemKey[] {
  return form.name === 'delete' ? [] : listClearedItems(item, itemKeys)
}

type Previous = RecordedItem | undefined

function createConfirmed(
  values: Possible[],
  form: Form,
  recording: Recording,
  previous: Previous,
): RecordedItem {
  const [value, ...others] = removeDuplicates(values)
  if (others.length > 0) return createInDoubt(values, recording, previous)
  const about = describeRecording(recording)
  if (value === undefined) return { ...unsetState, ...about }
  const status = form.name === 'unset' ? 'unset' : 'confirmed'
  const candidates = [value]
  return { status, candidates, ...collectTemplates(candidates, recording, previous), ...about }
}

function createInDoubt(values: Possible[], recording: Recording, previous: Previous): RecordedItem {
  const candidates = removeDuplicates(values).filter((value) => value !== undefined)
  return {
    status: 'in-doubt',
    candidates,
    ...(values.includes(undefined) ? { unknown: true } : {}),
    ...collectTemplates(candidates, recording, previous),
    ...describeRecording(recording),
    ...(recording.answered === true ? { answered: true } : {}),
  }
}

function describeRecording({ recordedAt, serviceAt, apply }: Recording) {
  const service = serviceAt === undefined ? {} : { serviceAt }
  return { at: recordedAt, ...service, apply, origin: 'write' as const }
}

/**
 * Collects the templates of the secrets in values. A secret that a write leaves unchanged may be
 * unavailable in this process: its template is then known from the earlier state.
 */
function collectTemplates(
  values: Value[],
  recording: Recording,
  previous: Previous,
): Pick<RecordedItem, 'templates'> {
  const earlier = [...listSecrets(values)].flatMap((secret) => {
    const template = findTemplate(previous?.templates, secret)
    return template === undefined ? [] : [[secret, template] as const]
  })
  const now = values.flatMap((value) => Object.entries(recording.secrets.listTemplates(value)))
  const all = [...earlier, ...now]
  return all.length === 0 ? {} : { templates: Object.fromEntries(all) }
}

/**
 * Removes fields that the service keeps and that differ between the values: they are unknown now.
 */
function removeUncertain(keeps: FieldName[], values: Possible[]): Possible[] {
  if (keeps.length === 0 || removeDuplicates(values).length < 2) return values
  const uncertain = keeps.filter(
    (name) =>
      removeDuplicates(values.map((value) => (isObject(value) ? value[name] : undefined))).length >
      1,
  )
  return values.map((value) => {
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => !uncertain.includes(name)))
  })
}

function removeDuplicates(values: Possible[]): Possible[] {
  return values.filter((value, i) => values.findIndex((other) => isSameJson(other, value)) === i)
}
