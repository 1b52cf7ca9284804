import { parseLock, formatLock, type LockHolder } from '../format/lock-file.ts'
import { leaseMs } from '../lease.ts'
import { isDead, type Machine } from '../machine.ts'
import type { Sql } from './database.ts'
import type { OutboxRows } from './outbox.ts'

/** An apply whose process ended before it reported its outcome. */
export interface LostApply {
  /** ISO 8601, by the database's clock. */
  begun: string
  who: string
}

/** The differing items that were reported last. */
export interface ReportedDrift {
  /** Empty without differing items. */
  hash: string
  items: number
  domains: number
}

/** Records that an apply begins, so that others report it if this process does not. */
export async function addBegun(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
  holder: LockHolder,
): Promise<void> {
  await sql(
    `insert into ${schema}.outbox_begun (token, workspace, address, holder)
     values ($1, $2, $3, $4) on conflict (token) do nothing`,
    [holder.token, workspace, address, formatLock({ holder, revoked: [] }, 0)],
  )
}

/** Shows that the process of an apply is alive. */
export async function showAlive(sql: Sql, schema: string, token: string): Promise<void> {
  await sql(`update ${schema}.outbox_begun set seen_at = clock_timestamp() where token = $1`, [
    token,
  ])
}

/** Ends an apply that began: it reports its outcome in the same transaction. */
export async function deleteBegun(sql: Sql, schema: string, token: string): Promise<void> {
  await sql(`delete from ${schema}.outbox_begun where token = $1`, [token])
}

/**
 * Takes the applies whose process has ended, or showed no sign of life for a lease. One that is
 * only suspended reports its outcome later, beside what others report now.
 */
export async function takeLost(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
  machine: Machine,
): Promise<LostApply[]> {
  const rows = await sql(
    `select token, holder, begun,
       clock_timestamp() - seen_at >= $3 * interval '1 millisecond' as is_old
     from ${schema}.outbox_begun where workspace = $1 and address = $2
     order by begun for update skip locked`,
    [workspace, address, leaseMs],
  )
  const lost = rows.flatMap((row) => {
    const { holder } = parseLock(String(row['holder']))
    const isLost = row['is_old'] === true || (holder !== null && isDead(holder, machine))
    return isLost ? [{ token: String(row['token']), row, holder }] : []
  })
  if (lost.length > 0)
    await sql(`delete from ${schema}.outbox_begun where token = any($1)`, [
      lost.map(({ token }) => token),
    ])
  return lost.map(({ row, holder }) => {
    const { begun } = row
    return {
      begun: begun instanceof Date ? begun.toISOString() : String(begun),
      who: holder?.who ?? 'another process',
    }
  })
}

/** Replaces the drift that was reported last, and returns it; null if it is the same. */
export async function replaceDrift(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
  scope: string,
  { hash, items, domains }: ReportedDrift,
): Promise<ReportedDrift | null> {
  const key = [workspace, address, scope]
  await sql(
    `insert into ${schema}.outbox_drift values ($1, $2, $3, '', 0, 0) on conflict do nothing`,
    key,
  )
  const where = 'where workspace = $1 and address = $2 and scope = $3'
  const [row] = await sql(
    `select hash, items, domains from ${schema}.outbox_drift ${where} for update`,
    key,
  )
  const before = {
    hash: String(row?.['hash']),
    items: Number(row?.['items']),
    domains: Number(row?.['domains']),
  }
  if (before.hash === hash) return null
  await sql(`update ${schema}.outbox_drift set hash = $4, items = $5, domains = $6 ${where}`, [
    ...key,
    hash,
    items,
    domains,
  ])
  return before
}
