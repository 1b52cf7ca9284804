import type { VendorOriginAuth } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import { accepted } from './cast-accepted.ts'
import type { ItemRow } from './item-spec.ts'
import { missingField } from './problems.ts'

/** Origin fetches are authenticated against a URL (specification, "vendor_origin_auth"). */
export const vendorOriginAuth: ItemRow = {
  check: (value: Json) => {
    const { match_method = 'default', pattern = '' } = accepted<VendorOriginAuth>(value)
    if (match_method === 'default' || pattern !== '') return []
    return [missingField('', `with match_method "${match_method}" the field "pattern" is required`)]
  },
}
