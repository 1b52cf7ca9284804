import type { SpeedLimit } from '../generated/items.ts'
import type { Value } from '../../model/item.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, overwritingList, type ItemRow } from '../item-spec.ts'
import { findKnownEntry, observeEntries, omitFields, type Observation } from '../observation.ts'
import { describeRefusal } from '../problems.ts'

const identity = ['type', 'pattern', 'begin_time', 'end_time']

/** Speed limits by time of day (specification, "speed_limit"). */
export const speedLimit: ItemRow = {
  ...overwritingList,
  identity,
  check: (value) => castPlain<SpeedLimit>(value).flatMap(checkRule),
  observe: (known, observed) => observeEntries(observed, (rule, i) => observeRule(known, rule, i)),
}

/** Drops the priority, and restores a known speed that the service has rounded up. */
function observeRule(known: Value | undefined, observed: JsonObject, i: number): Observation {
  const rule = omitFields(observed, ['priority'])
  const speed = findKnownEntry(known, rule, i, identity)?.['speed']
  const rounded = roundUp(speed)
  const isSame = rounded !== null && roundUp(rule['speed']) === rounded
  return { payload: isSame ? { ...rule, speed: speed ?? null } : rule }
}

/** Rounds Kbps up to whole KB, in Kbps; null if it is not a speed. */
function roundUp(speed: Json | undefined): bigint | null {
  const text = String(speed)
  return /^[1-9]\d{0,30}$/.test(text) ? ((BigInt(text) + 7n) / 8n) * 8n : null
}

function checkRule(rule: SpeedLimit[number], i: number): Problem[] {
  const problems: Problem[] = []
  if (rule.type === 'all' && rule.pattern !== '.*') {
    problems.push(
      describeRefusal(
        `/${i}/pattern`,
        `with type "all" the pattern can only be ".*", got ${JSON.stringify(rule.pattern)}`,
      ),
    )
  }
  if (rule.end_time <= rule.begin_time) {
    problems.push(
      describeRefusal(
        `/${i}/end_time`,
        `expected a time later than begin_time ${rule.begin_time}, got ${rule.end_time}`,
      ),
    )
  }
  return problems
}
