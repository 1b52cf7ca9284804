import { getItemSpec } from '../catalog/catalogue.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { isSameJson } from '../model/canonical-json.ts'
import type { Form } from '../model/change.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { getOwn, type Json } from '../model/json.ts'
import type { SecretPort } from '../model/secret-keeper.ts'

/**
 * Of what the service returned, the values that are not what was sent: the service rewrote them.
 * Values are compared in canonical form, without their secrets.
 */
export function findRewritten(
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Json>,
  secrets: Pick<SecretPort, 'mask'>,
): Record<ItemKey, Value> {
  const differing = Object.entries(forms).flatMap(([item, form]) => {
    const raw = getOwn(returned, item)
    if (raw === undefined) return []
    const answer = secrets.mask(item, raw)
    return sameAsSent(item, form.payload, answer) ? [] : [[item, answer] as const]
  })
  return Object.fromEntries(differing)
}

function sameAsSent(item: ItemKey, payload: Json, answer: Json): boolean {
  const spec = getItemSpec(item)
  if (spec.answerForm?.matches(payload, answer) === true) return true
  const read = parseItem(spec, answer, 'manifest', '')
  const sent = spec.canonicalize(payload)
  return isSameJson(read.payload, payload) || (read.value !== null && isSameJson(read.value, sent))
}
