import { getItemSpec } from '../catalog/catalogue.ts'
import type { Change, Form } from '../model/change.ts'
import { unrecordedState, type Domain, type ItemKey, type Snapshot } from '../model/item.ts'

/**
 * One item of one domain that has to be written: by the whole form, or by all of the parts, in any
 * order.
 */
export interface Need {
  domain: Domain
  item: ItemKey
  whole: Form
  /** Deltas; none where only the whole form will do. */
  parts: Form[]
}

/**
 * What has to be written so that the changes come true. What another item empties, and what is
 * released, needs no write. A change that no documented write can bring about is a defect of the
 * catalogue.
 */
export function listNeeds(changes: Change[], recorded: Snapshot): Need[] {
  return changes.flatMap((change) => {
    if (change.action === 'release' || change.reason === 'cleared') return []
    const { domain, item, after } = change
    const spec = getItemSpec(item)
    const held = recorded.get(domain)?.get(item) ?? unrecordedState
    if (after !== null) {
      const whole = spec.buildWhole(held, after)
      if (whole !== null)
        return [
          {
            domain,
            item,
            whole,
            parts: change.reason === 'differs' ? (spec.buildDeltas?.(held, after) ?? []) : [],
          },
        ]
    } else {
      const payload = spec.unset?.(held, domain)
      if (payload !== undefined && payload !== null)
        return [{ domain, item, whole: { name: 'unset' as const, payload }, parts: [] }]
    }
    throw new TypeError(`no documented way to ${change.action} ${item} of ${domain}`)
  })
}
