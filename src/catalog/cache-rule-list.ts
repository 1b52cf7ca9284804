import type { CacheRuleList } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import { checkCacheTime } from './cache-time.ts'
import type { ItemRow } from './item-spec.ts'
import { overwritingList } from './overwriting-list.ts'
import { warn, refuse } from './problems.ts'

type Rule = CacheRuleList[number]
const customerFields = ['query_params_op_way', 'query_params_op_when', 'params'] as const

/** The newer form of cache rules (specification, "cache_rule_list"). */
export const cacheRuleList: ItemRow = {
  ...overwritingList,
  check: (value: Json) => {
    const rules = castAccepted<CacheRuleList>(value)
    return [...rules.flatMap(ruleProblems), ...priorityProblems(rules)]
  },
}

function ruleProblems(rule: Rule, i: number): Problem[] {
  const problems = checkCacheTime(`/${i}/expire`, rule.expire, rule.expire_unit ?? 's')
  const mode = rule.query_params_op ?? 'do_nothing'
  for (const field of customerFields) {
    const given = rule[field] !== undefined && rule[field] !== ''
    if (given && mode !== 'customer') {
      problems.push(
        refuse(
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

function priorityProblems(rules: Rule[]): Problem[] {
  const first = new Map<number, number>()
  const problems: Problem[] = []
  rules.forEach(({ priority }, i) => {
    if (priority === undefined) return
    const other = first.get(priority)
    if (other === undefined) first.set(priority, i)
    else
      problems.push(
        refuse(
          `/${i}/priority`,
          `priority ${priority} is already taken by rule ${other + 1}; priorities must not repeat`,
        ),
      )
  })
  return problems
}
