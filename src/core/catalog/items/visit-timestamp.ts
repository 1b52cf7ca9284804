import type { VisitTimestamp } from '../generated/items.ts'
import type { Value } from '../../model/item.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, type ItemRow } from '../item-spec.ts'
import { omitFields, type Observation } from '../observation.ts'
import { describeRefusal } from '../problems.ts'

/** Timestamp-signed URLs (specification, "visit_timestamp"). */
export const visitTimestamp: ItemRow = { group: 'combined', check, observe }

/** The service returns `request_style`, which no write has, and an empty `error_page` if unset. */
function observe(known: Value | undefined, observed: Json): Observation {
  if (!isObject(observed)) return { payload: observed }
  const rest = omitFields(observed, ['request_style', 'error_page'])
  const { error_page = '' } = observed
  const isNamed =
    error_page !== '' || (known !== undefined && isObject(known) && known['error_page'] === '')
  return { payload: isNamed ? { ...rest, error_page } : rest }
}

function check(value: Json): Problem[] {
  const { key, req_uri_type, timename = 'time', keyname = 'key' } = castPlain<VisitTimestamp>(value)
  const problems: Problem[] = []
  if (key.trim() === '')
    problems.push(
      describeRefusal('/key', 'expected one or several keys separated by spaces, got only blanks'),
    )
  const asArguments = req_uri_type === 1 || req_uri_type === 2
  if (asArguments && timename === keyname) {
    problems.push(
      describeRefusal(
        '/timename',
        `the time and the key can't share the query argument "${timename}"`,
      ),
    )
  }
  return problems
}
