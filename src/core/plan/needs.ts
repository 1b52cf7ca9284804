import { getItemSpec } from '../catalog/catalogue.ts'
import { deleteForm, type Change, type Form } from '../model/change.ts'
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
 * @param deletes whether the account can unset any item (`service.unset`)
 * @throws TypeError if no write makes the change: a manifest and a rollback ask for none
 */
export function listNeeds(changes: Change[], recorded: Snapshot, deletes = false): Need[] {
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
    } else if (deletes) {
      return [{ domain, item, whole: deleteForm, parts: [] }]
    } else {
      const payload = spec.unset?.(state, domain) ?? null
      if (payload !== null)
        return [{ domain, item, whole: { name: 'unset' as const, payload }, parts: [] }]
    }
    throw new TypeError(`no way to ${change.action} ${item} of ${domain}`)
  })
}
