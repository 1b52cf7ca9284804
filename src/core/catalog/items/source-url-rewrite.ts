import type { SourceUrlRewrite } from '../generated/items.ts'
import type { Problem } from '../../model/problem.ts'
import { pluralize } from '../../model/text/words.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { describeUndesired } from '../problems.ts'
import { countGroups } from '../value/regex.ts'

/** URLs of origin requests, rewritten (specification, "source_url_rewrite"). */
export const sourceUrlRewrite: ItemRow = {
  ...overwritingList,
  identity: ['origin_url'],
  check: (value) => castPlain<SourceUrlRewrite>(value).flatMap(checkRule),
}

function checkRule(rule: SourceUrlRewrite[number], i: number): Problem[] {
  const groups = countGroups(rule.origin_url)
  return [...rule.target_url.matchAll(/\$(\d+)/g)].flatMap(([text, digits]) => {
    // "$10" is group 10 if there are ten groups, otherwise group 1 and a "0".
    const numbers = Array.from(digits ?? '', (_, n) => Number(digits?.slice(0, n + 1)))
    if (numbers.some((n) => n >= 1 && n <= groups)) return []
    const count = pluralize(groups, 'group')
    return [
      describeUndesired(
        `/${i}/target_url`,
        `"${text}" refers to a group that origin_url does not have; it has ${count}, ` +
          'counted from $1',
        'unknown-group',
      ),
    ]
  })
}
