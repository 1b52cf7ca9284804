import { isConditional, nameChange, type Change } from '../model/change.ts'

/**
 * Drops the conditional changes whose secrets do not differ; the others are changes like any other
 * from then on. An item that a dropped change would have emptied is released instead.
 */
export function settleConditional(
  changes: Change[],
  differs: (change: Change) => boolean,
): Change[] {
  const dropped = new Set(
    changes.filter((change) => isConditional(change) && !differs(change)).map(nameChange),
  )
  return changes.flatMap((change): Change[] => {
    const { by, ...rest } = change
    if (dropped.has(nameChange(change))) return []
    if (isConditional(change)) return [{ ...change, reason: 'differs' }]
    if (by === undefined || !dropped.has(nameChange({ ...change, item: by }))) return [change]
    return [{ ...rest, action: 'release', reason: 'differs' }]
  })
}
