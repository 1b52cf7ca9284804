import type { SpeedLimit } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import type { ItemRow } from './item-spec.ts'
import { overwritingList } from './overwriting-list.ts'
import { refuse } from './problems.ts'

/** Speed limits by time of day (specification, "speed_limit"). */
export const speedLimit: ItemRow = {
  ...overwritingList,
  check: (value: Json) => castAccepted<SpeedLimit>(value).flatMap(ruleProblems),
}

function ruleProblems(rule: SpeedLimit[number], i: number): Problem[] {
  const problems: Problem[] = []
  if (rule.type === 'all' && rule.pattern !== '.*') {
    problems.push(
      refuse(
        `/${i}/pattern`,
        `with type "all" the pattern can only be ".*", got ${JSON.stringify(rule.pattern)}`,
      ),
    )
  }
  if (rule.end_time <= rule.begin_time) {
    problems.push(
      refuse(
        `/${i}/end_time`,
        `expected a time later than begin_time ${rule.begin_time}, got ${rule.end_time}`,
      ),
    )
  }
  return problems
}
