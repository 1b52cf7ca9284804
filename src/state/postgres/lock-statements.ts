import type { Domain } from '../../core/model/item.ts'
import {
  formatLock,
  parseLock,
  type FoundLock,
  type LockHolder,
  type LockState,
} from '../format/lock-file.ts'
import type { LockScope } from '../locks/locks.ts'
import { isDead, type Machine } from '../locks/machine.ts'
import type { Row, Sql } from './database.ts'

/** The locks of an account, one in a row. */
export interface LockRows {
  /** Name of their table in statements. */
  table: string
  /** Path of the account's lock. */
  account: string
}

/** A lock that a process has or waits for. */
export interface QueuedLock extends LockState {
  token: string
  /** Changes with each sign of life. */
  version: string
  /** Whether the process has it; otherwise it only waits for it. */
  isHeld: boolean
}

/**
 * Queues up, or shows that this process still waits, and returns the version of its lock. Until the
 * end of the transaction nobody else does.
 */
export async function queueUp(
  sql: Sql,
  { table, account }: LockRows,
  scope: LockScope,
  holder: LockHolder,
): Promise<string> {
  const { token } = holder
  await sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table} ${account}`])
  const [shown] = await sql(
    `update ${table} set version = version + 1, seen_at = clock_timestamp()
     where token = $1 returning version`,
    [token],
  )
  // Nobody relies on a place in the queue, so that the clock of the database is enough.
  await sql(
    `delete from ${table} where account = $1 and not held
     and seen_at < clock_timestamp() - interval '15 s'`,
    [account],
  )
  if (shown !== undefined) return String(shown['version'])
  const [added] = await sql(
    `insert into ${table} (account, workspace, domains, token, text)
     values ($1, $2, $3, $4, $5) returning version`,
    [account, ...toValues(scope), token, formatLock({ holder, revoked: [] }, 0)],
  )
  return String(added?.['version'])
}

/** Finds the locks that exclude one, and that others have or wanted earlier, first to last. */
export async function findBefore(
  sql: Sql,
  { table }: LockRows,
  token: string,
): Promise<QueuedLock[]> {
  const rows = await sql(
    `select other.token, other.version, other.text, other.held
     from ${table} as own join ${table} as other on other.account = own.account
       and other.token <> own.token and (other.held or other.ticket < own.ticket)
     where own.token = $1 and ${overlaps('own.workspace', 'own.domains')} order by other.ticket`,
    [token],
  )
  return rows.map((row) => ({
    token: String(row['token']),
    version: String(row['version']),
    isHeld: row['held'] === true,
    ...parseLock(String(row['text'])),
  }))
}

/** Deletes locks that have not changed, and returns the tokens of those. */
export async function deleteUnchanged(
  sql: Sql,
  { table }: LockRows,
  locks: QueuedLock[],
): Promise<string[]> {
  const deleted = await sql(
    `delete from ${table} as other using unnest($1::text[], $2::bigint[]) as ended (token, version)
     where other.token = ended.token and other.version = ended.version returning other.token`,
    [locks.map(({ token }) => token), locks.map(({ version }) => version)],
  )
  return deleted.map((row) => String(row['token']))
}

/** Gives a lock to the process that waits for it. */
export async function hold(sql: Sql, { table }: LockRows, token: string): Promise<void> {
  await sql(`update ${table} set held = true where token = $1`, [token])
}

/** Deletes the locks that tokens identify, as far as they exist. */
export async function deleteLocks(sql: Sql, { table }: LockRows, tokens: string[]): Promise<void> {
  await sql(`delete from ${table} where token = any($1)`, [tokens])
}

/** Finds the locks that processes have and that exclude one of this scope, first to last. */
export async function findHeldLocks(
  sql: Sql,
  { table, account }: LockRows,
  scope: LockScope,
): Promise<FoundLock[]> {
  const rows = await sql(
    `select version, text from ${table} as other
     where account = $1 and held and ${overlaps('$2::text', '$3::text[]')} order by ticket`,
    [account, ...toValues(scope)],
  )
  return rows.map(toLock)
}

/**
 * Finds a lock, which does not change until the end of the transaction; if it is gone, that of who
 * has the lock now.
 */
export async function findLock(
  sql: Sql,
  rows: LockRows,
  token: string,
  scope: LockScope,
): Promise<FoundLock> {
  const statement = `select version, text from ${rows.table} where token = $1 for share`
  const [own] = (await sql(statement, [token])).map(toLock)
  return own ?? (await findHeldLocks(sql, rows, scope))[0] ?? { version: null, text: null }
}

/** Finds the domains of a lock; null if it covers more than some. */
export async function findDomains(
  sql: Sql,
  { table }: LockRows,
  token: string,
): Promise<Domain[] | null> {
  const [row] = await sql(`select domains from ${table} where token = $1`, [token])
  return (row?.['domains'] ?? null) as Domain[] | null
}

/**
 * Replaces the text of a lock whose version is the one before `next`; false if it is another one.
 *
 * @param change identifies it when its answer was lost, among those of other processes
 */
export async function replaceText(
  sql: Sql,
  { table }: LockRows,
  token: string,
  next: number,
  text: string,
  change: string,
): Promise<boolean> {
  const rows = await sql(
    `update ${table} set version = $2, text = $3, change = $4
     where token = $1 and (version = $2 - 1 or change = $4) returning version`,
    [token, next, text, change],
  )
  return rows.length > 0
}

/**
 * Removes the lock of a holder, with a mark unless its process has certainly ended; false if it has
 * released the lock.
 */
export async function revoke(
  sql: Sql,
  rows: LockRows,
  token: string,
  machine: Machine,
): Promise<boolean> {
  const { table } = rows
  const [row] = await sql(`select text from ${table} where token = $1 for update`, [token])
  const { holder } = parseLock(row === undefined ? null : String(row['text']))
  if (holder === null) return false
  if (isDead(holder, machine)) await deleteLocks(sql, rows, [token])
  else {
    const mark = formatLock({ holder: null, revoked: [holder] }, 0)
    const change = 'set version = version + 1, text = $2'
    await sql(`update ${table} ${change} where token = $1`, [token, mark])
  }
  return true
}

/** Builds the condition that the scope of the row `other` has a domain of another scope. */
function overlaps(workspace: string, domains: string): string {
  return `(other.workspace is null or ${workspace} is null or (other.workspace = ${workspace}
    and (other.domains is null or ${domains} is null
      or exists (select unnest(other.domains) intersect select unnest(${domains})))))`
}

/** Returns the values of a scope in statements. */
function toValues({ workspace, domains }: LockScope): [string | null, string[] | null] {
  return [workspace, domains === null ? null : [...domains]]
}

function toLock(row: Row): { version: string; text: string } {
  return { version: String(row['version']), text: String(row['text']) }
}
