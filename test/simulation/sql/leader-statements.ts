import type { Row } from '../../../src/state/postgres/database.ts'
import type { Transaction } from './engine.ts'
import type { Statement } from './statement.ts'

const table = 'leaders'
const defaults = { number: '0', token: null, seen_at: 0, process: '{}', wakes: '0' }

/** What the statements of src/state/postgres/leadership.ts do. Times are ms since 1970. */
export const leaderStatements: Record<string, Statement> = {
  'insert into leaders (workspace) values ($1) on conflict do nothing': async (
    transaction,
    [workspace],
  ) => {
    await transaction.insert(table, String(workspace), { workspace, ...defaults })
    return []
  },
  [`select number, token, process, wakes,
      seen_at < clock_timestamp() - $2 * interval '1 millisecond' as ended
    from leaders where workspace = $1 for update`]: async (transaction, [workspace, ms]) => {
    const row = await transaction.lockRow(table, String(workspace), 'exclusive')
    if (row === undefined) return []
    const { number, token, process, wakes, seen_at: seenAt } = row
    const ended = Number(seenAt) < transaction.engine.now() - Number(ms)
    return [{ number, token, process, wakes, ended }]
  },
  [`update leaders set number = $2, token = $3, process = $4, seen_at = clock_timestamp()
    where workspace = $1`]: async (transaction, [workspace, number, token, process]) => {
    const change = { number: String(number), token, process, seen_at: transaction.engine.now() }
    await update(transaction, workspace, () => true, change)
    return []
  },
  [`update leaders set seen_at = clock_timestamp()
    where workspace = $1 and number = $2 returning wakes`]: async (
    transaction,
    [workspace, number],
  ) => {
    const change = { seen_at: transaction.engine.now() }
    const row = await update(transaction, workspace, hasNumber(number), change)
    return row === null ? [] : [{ wakes: row['wakes'] }]
  },
  'select number from leaders where workspace = $1': (transaction, [workspace]) => {
    const row = transaction.get(table, String(workspace))
    return row === undefined ? [] : [{ number: row['number'] }]
  },
  [`update leaders set token = null, process = '{}', seen_at = 'epoch'
    where workspace = $1 and number = $2`]: async (transaction, [workspace, number]) => {
    const change = { token: null, process: '{}', seen_at: 0 }
    await update(transaction, workspace, hasNumber(number), change)
    return []
  },
  'update leaders set wakes = wakes + 1 where workspace = $1': async (transaction, [workspace]) => {
    const change = ({ wakes }: Row) => ({ wakes: String(Number(wakes) + 1) })
    await update(transaction, workspace, () => true, change)
    return []
  },
}

function hasNumber(number: unknown): (row: Row) => boolean {
  return (row) => row['number'] === String(number)
}

async function update(
  transaction: Transaction,
  workspace: unknown,
  isMeant: (row: Row) => boolean,
  change: Row | ((row: Row) => Row),
): Promise<Row | null> {
  const row = await transaction.lockRow(table, String(workspace), 'exclusive', isMeant)
  if (row === undefined) return null
  const changed = { ...row, ...(typeof change === 'function' ? change(row) : change) }
  transaction.put(table, String(workspace), changed)
  return changed
}
