import { getItemSpec } from '../catalog/catalogue.ts'
import type { Change, Form } from '../model/change.ts'
import { unrecordedState, type Domain, type ItemKey, type Snapshot } from '../model/item.ts'

/** One item of one domain to write: by the whole form, or by all of the parts, in any order. */
export interface Need {
  domain: Domain
  item: ItemKey
  whole: Form
  /** Deltas; empty if only the whole form is possible. */
  parts: Form[]
}

/**
 * Lists the writes that the changes need. An item that is released, or emptied by another one,
 * needs none.
 *
 * @throws TypeError if no documented write makes the change, which is a defect of the catalogue
 */
export function listNeeds(changes: Change[], recorded: Snapshot): Need[] {
  return changes.flatMap((change) => {
    if (change.action === 'release' || change.reason === 'cleared') return []
    const { domain, item, after } = change
    const spec = getItemSpec(item)
    const state = recorded.get(domain)?.get(item) ?? unrecordedState
    if (after !== null) {
      const whole = spec.buildWhole(state, after)
      if (whole !== null)
        return [
          {
            domain,
            item,
            whole,
            parts: change.reason === 'differs' ? (spec.buildDeltas?.(state, after) ?? []) : [],
          },
        ]
    } else {
      const payload = spec.unset?.(state, domain)
      if (payload !== undefined && payload !== null)
        return [{ domain, item, whole: { name: 'unset' as const, payload }, parts: [] }]
    }
    throw new TypeError(`no documented way to ${change.action} ${item} of ${domain}`)
  })
}
