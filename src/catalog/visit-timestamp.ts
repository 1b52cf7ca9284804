import type { VisitTimestamp } from '../generated/items.ts'
import type { Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import type { ItemRow } from './item-spec.ts'
import { refuse } from './problems.ts'

/** Timestamp-signed URLs (specification, "visit_timestamp"). */
export const visitTimestamp: ItemRow = { group: 'combined', check }

function check(value: Json): Problem[] {
  const {
    key,
    req_uri_type,
    timename = 'time',
    keyname = 'key',
  } = castAccepted<VisitTimestamp>(value)
  const problems: Problem[] = []
  if (key.trim() === '')
    problems.push(
      refuse('/key', 'expected one or several keys separated by spaces, got only blanks'),
    )
  const asArguments = req_uri_type === 1 || req_uri_type === 2
  if (asArguments && timename === keyname) {
    problems.push(
      refuse(
        '/timename',
        `the time and the key can't both travel in the query argument "${timename}"`,
      ),
    )
  }
  return problems
}
