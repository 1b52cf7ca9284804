import { formatDay } from '../model/format-time.ts'
import type { PageApply } from '../model/page-history.ts'

/** A row of the time line: a day, a rollout above its waves, or an apply by its position. */
export type ListRow =
  | { kind: 'day'; text: string }
  | { kind: 'rollout'; id: string; waves: number }
  | { kind: 'apply'; position: number; isWave: boolean; isOtherDay: boolean }

/** Lists the rows of some applies: days with their applies, and the waves of a rollout together. */
export function listRows(applies: readonly PageApply[], positions: readonly number[]): ListRow[] {
  const rows: ListRow[] = []
  let day = ''
  let rollout: Extract<ListRow, { kind: 'rollout' }> | null = null
  for (const position of positions) {
    const apply = applies[position]
    if (apply === undefined) continue
    const own = formatDay(apply.startedAt)
    const isSame = rollout !== null && apply.rollout?.id === rollout.id
    if (!isSame && own !== day) {
      rows.push({ kind: 'day', text: own })
      day = own
    }
    if (apply.rollout === null) rollout = null
    else if (rollout !== null && isSame) rollout.waves++
    else rows.push((rollout = { kind: 'rollout', id: apply.rollout.id, waves: 1 }))
    const isWave = apply.rollout !== null
    rows.push({ kind: 'apply', position, isWave, isOtherDay: own !== day })
  }
  return rows
}
