import { itemSpec } from '../catalog/catalogue.ts'
import { readItem } from '../catalog/parse-item.ts'
import { sameJson } from '../model/canonical-json.ts'
import type { Form } from '../model/change.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { own, type Json } from '../model/json.ts'
import type { SecretPort } from '../model/secret-keeper.ts'

/**
 * Of what the service returned, the values that are not what was sent: the service rewrote them.
 * Values are compared in canonical form, without their secrets.
 */
export function rewritten(
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Json>,
  secrets: Pick<SecretPort, 'mask'>,
): Record<ItemKey, Value> {
  const differing = Object.entries(forms).flatMap(([item, form]) => {
    const raw = own(returned, item)
    if (raw === undefined) return []
    const answer = secrets.mask(item, raw)
    return sameAsSent(item, form.payload, answer) ? [] : [[item, answer] as const]
  })
  return Object.fromEntries(differing)
}

function sameAsSent(item: ItemKey, payload: Json, answer: Json): boolean {
  const spec = itemSpec(item)
  if (spec.answerForm?.matches(payload, answer) === true) return true
  const read = readItem(spec, answer, 'manifest', '')
  const sent = spec.canonical(payload)
  return sameJson(read.payload, payload) || (read.value !== null && sameJson(read.value, sent))
}
