import { getItemSpec } from '../catalog/catalogue.ts'
import { restoreShape, type ItemSpec } from '../catalog/item-spec.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { isSameJson } from '../model/canonical-json.ts'
import type { Form } from '../model/change.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { getOwn, type Json } from '../model/json.ts'
import type { SecretPort } from '../model/secret-keeper.ts'

/**
 * Finds the returned values that the service rewrote, without their secrets. Values are compared in
 * canonical form, in the shape in which they are written.
 *
 * @param listRecorded lists recorded values of an item, which may have secrets that were not sent
 */
export function findRewritten(
  forms: Record<ItemKey, Form>,
  returned: Record<ItemKey, Json>,
  listRecorded: (item: ItemKey) => Value[],
  secrets: Pick<SecretPort, 'recognize' | 'maskAnswer'>,
): Record<ItemKey, Value> {
  const differing = Object.entries(forms).flatMap(([item, { payload }]) => {
    const raw = getOwn(returned, item)
    if (raw === undefined) return []
    const models = [payload, ...listRecorded(item)]
    const spec = getItemSpec(item)
    if (spec.answerForm?.matches(payload, secrets.recognize(item, raw, models)) === true) return []
    const answer = restoreShape(spec, raw, payload)
    return isSameAsSent(spec, payload, secrets.recognize(item, answer, models))
      ? []
      : [[item, secrets.maskAnswer(item, answer, models)] as const]
  })
  return Object.fromEntries(differing)
}

function isSameAsSent(spec: ItemSpec, payload: Json, answer: Json): boolean {
  const parsed = parseItem(spec, answer, 'manifest', '')
  const sent = spec.canonicalize(payload)
  return (
    isSameJson(parsed.payload, payload) || (parsed.value !== null && isSameJson(parsed.value, sent))
  )
}
