import { itemSpec } from '../catalog/catalogue.ts'
import type { Change, Form } from '../model/change.ts'
import { unrecorded, type Domain, type ItemKey, type Snapshot } from '../model/item.ts'

/** One item of one domain that has to be written, and every documented way to do it. */
export interface Need {
  domain: Domain
  item: ItemKey
  /** At least one. */
  forms: Form[]
}

/**
 * What has to be written so that the changes come true. What another item empties, and what is released, needs no write.
 * A change that no documented write can bring about is a defect of the catalogue.
 */
export function needsOf(changes: Change[], recorded: Snapshot): Need[] {
  return changes.flatMap((change) => {
    if (change.action === 'release' || change.reason === 'cleared') return []
    const forms = formsOf(change, recorded)
    if (forms.length === 0) throw new TypeError(`no documented way to ${change.action} ${change.item} of ${change.domain}`)
    return [{ domain: change.domain, item: change.item, forms }]
  })
}

function formsOf(change: Change, recorded: Snapshot): Form[] {
  const spec = itemSpec(change.item)
  const held = recorded.get(change.domain)?.get(change.item) ?? unrecorded
  if (change.after !== null) return spec.forms(held, change.after)
  const payload = spec.unset?.(held, change.domain)
  return payload === undefined || payload === null ? [] : [{ name: 'unset', payload }]
}
