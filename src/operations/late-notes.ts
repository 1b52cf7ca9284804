import { findVersion } from '../model/known-items.ts'
import { listSome } from '../model/words.ts'
import type { RecordedState } from '../state/store.ts'

/** Notes imported items that a call of an apply that died may have changed after the import. */
export function listLateNotes(recorded: RecordedState): string[] {
  const late: string[] = []
  for (const [domain, items] of recorded) {
    // Known items are not late.
    if (findVersion(items) !== null) continue
    for (const [item, { late: isLate, origin, status }] of items)
      if (isLate !== undefined && origin === 'import' && status === 'confirmed')
        late.push(`${item} of ${domain}`)
  }
  if (late.length === 0) return []
  return [
    'A call of an apply that died could still change imported items when they were imported: ' +
      `${listSome(late)}. To be certain of their values, import them again.`,
  ]
}
