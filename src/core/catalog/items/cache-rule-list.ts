import type { CacheRuleList } from '../generated/items.ts'
import type { Problem } from '../../model/problem.ts'
import { checkCacheTime } from '../cache-time.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { fillHidden, findKnownEntry, observeEntries } from '../observation.ts'
import { warn, describeRefusal } from '../problems.ts'

type Rule = CacheRuleList[number]
const identity = ['match_method', 'pattern']
const hiddenFields = ['cache_or_not', 'case_ignore']
const customerFields = ['query_params_op_way', 'query_params_op_when', 'params'] as const

/** The newer form of cache rules (specification, "cache_rule_list"). */
export const cacheRuleList: ItemRow = {
  ...overwritingList,
  identity,
  check: (value) => {
    const rules = castPlain<CacheRuleList>(value)
    return [...rules.flatMap(checkRule), ...checkPriorities(rules)]
  },
  /** A query shows neither `case_ignore` nor `cache_or_not`. */
  observe: (known, observed) =>
    observeEntries(observed, (rule, i) => {
      const showsHidden = hiddenFields.some((field) => Object.hasOwn(rule, field))
      const same = findKnownEntry(known, rule, i, identity)
      return fillHidden(same, rule, showsHidden ? [] : hiddenFields)
    }),
}

function checkRule(rule: Rule, i: number): Problem[] {
  const problems = checkCacheTime(`/${i}/expire`, rule.expire, rule.expire_unit ?? 's')
  const mode = rule.query_params_op ?? 'do_nothing'
  for (const field of customerFields) {
    const isGiven = rule[field] !== undefined && rule[field] !== ''
    if (isGiven && mode !== 'customer') {
      problems.push(
        describeRefusal(
          `/${i}/${field}`,
          `"${field}" may be set only with query_params_op "customer", here it is "${mode}"`,
        ),
      )
    } else if (rule[field] === undefined && mode === 'customer') {
      problems.push(
        warn(
          `/${i}/query_params_op`,
          `with query_params_op "customer" the field "${field}" is expected as well`,
        ),
      )
    }
  }
  return problems
}

function checkPriorities(rules: Rule[]): Problem[] {
  const first = new Map<number, number>()
  const problems: Problem[] = []
  rules.forEach(({ priority }, i) => {
    if (priority === undefined) return
    const other = first.get(priority)
    if (other === undefined) first.set(priority, i)
    else
      problems.push(
        describeRefusal(
          `/${i}/priority`,
          `priority ${priority} is already used by rule ${other + 1}; priorities must be unique`,
        ),
      )
  })
  return problems
}
