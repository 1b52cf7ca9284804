import type { ErrorPageRewrite } from '../generated/items.ts'
import { isSameJson } from '../../model/json.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { describeUndesired } from '../problems.ts'

/** Redirects that replace error responses (specification, "error_page_rewrite"). */
export const errorPageRewrite: ItemRow = {
  ...overwritingList,
  identity: ['error_status_code'],
  check: (value) => {
    const rules = castPlain<ErrorPageRewrite>(value)
    return rules.flatMap((rule, i) => {
      const other = rules.findIndex(
        (earlier) => earlier.error_status_code === rule.error_status_code,
      )
      if (other === i || isSameJson(rules[other], rule)) return []
      const detail =
        `rule ${other + 1} already has a target for ${rule.error_status_code}. Remove one of ` +
        'the two.'
      return [describeUndesired(`/${i}/error_status_code`, detail, 'ambiguous-target')]
    })
  },
}
