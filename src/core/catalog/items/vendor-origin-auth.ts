import type { VendorOriginAuth } from '../generated/items.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { describeMissingField } from '../problems.ts'

/** Origin fetches are authenticated against a URL (specification, "vendor_origin_auth"). */
export const vendorOriginAuth: ItemRow = {
  check: (value) => {
    const { match_method = 'default', pattern = '' } = castPlain<VendorOriginAuth>(value)
    if (match_method === 'default' || pattern !== '') return []
    return [
      describeMissingField(
        '',
        `with match_method "${match_method}" the field "pattern" is required`,
      ),
    ]
  },
}
