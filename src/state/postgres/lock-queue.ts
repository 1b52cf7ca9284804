import { formatLock, parseLock, type LockHolder, type FoundLock } from '../format/lock-file.ts'
import type { LockScope } from '../locks/locks.ts'
import type { Row, Sql } from './database.ts'
import { leaseMs } from '../locks/lease.ts'
import { isDead, type Machine } from '../locks/machine.ts'

/** The turn of a process: the version of its lock, or who is before it. */
export interface Turn {
  /** Null if it has to wait. */
  version: string | null
  other: LockHolder | null
  /** Whether that one has a lock; otherwise it only waits for one. */
  isHeld: boolean
  /** Holders whose lock was removed, and who may not have noticed it yet. */
  marks: LockHolder[]
}

/**
 * Queues up, or shows that this process still waits, and takes the lock if it is its turn.
 *
 * @param account path of the account's lock
 */
export async function takeTurn(
  sql: Sql,
  table: string,
  account: string,
  scope: LockScope,
  holder: LockHolder,
  signs: SignsOfLife,
): Promise<Turn> {
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
  const [own] =
    shown === undefined
      ? await sql(
          `insert into ${table} (account, workspace, domains, token, text)
           values ($1, $2, $3, $4, $5) returning version`,
          [account, ...toValues(scope), token, formatLock({ holder, revoked: [] }, 0)],
        )
      : [shown]
  const rows = await sql(
    `select other.token, other.version, other.text, other.held
     from ${table} as own join ${table} as other on other.account = own.account
       and other.token <> own.token and (other.held or other.ticket < own.ticket)
     where own.token = $1 and ${overlaps('own.workspace', 'own.domains')} order by other.ticket`,
    [token],
  )
  const locks = rows.map((row) => ({
    token: String(row['token']),
    version: String(row['version']),
    isHeld: row['held'] === true,
    ...parseLock(String(row['text'])),
  }))
  const ended = signs.findEnded(locks)
  const removed = await sql(
    `delete from ${table} as other using unnest($1::text[], $2::bigint[]) as ended (token, version)
     where other.token = ended.token and other.version = ended.version returning other.token`,
    [ended.map((lock) => lock.token), ended.map(({ version }) => version)],
  )
  const gone = new Set(removed.map((row) => String(row['token'])))
  const marks = locks.filter((lock) => lock.holder === null)
  const before = locks.filter((lock) => lock.holder !== null && !gone.has(lock.token))
  const first = before.find(({ isHeld }) => isHeld) ?? before[0]
  if (first !== undefined)
    return { version: null, other: first.holder, isHeld: first.isHeld, marks: [] }
  await sql(`update ${table} set held = true where token = $1`, [token])
  return {
    version: toVersion(own).version,
    other: null,
    isHeld: false,
    marks: marks.flatMap(({ revoked }) => revoked),
  }
}

/** Builds the condition that the scope of the row `other` has a domain of another scope. */
export function overlaps(workspace: string, domains: string): string {
  return `(other.workspace is null or ${workspace} is null or (other.workspace = ${workspace}
    and (other.domains is null or ${domains} is null
      or exists (select unnest(other.domains) intersect select unnest(${domains})))))`
}

/** Returns the values of a scope in statements. */
export function toValues({ workspace, domains }: LockScope): [string | null, string[] | null] {
  return [workspace, domains === null ? null : [...domains]]
}

/** Reads the version and the text of a row; null if there is none. */
export function toVersion(row: Row | undefined): FoundLock {
  return row === undefined
    ? { version: null, text: null }
    : {
        version: String(row['version']),
        text: row['text'] === undefined ? null : String(row['text']),
      }
}

/** A lock of another process. */
interface OtherLock {
  token: string
  /** Changes with each sign of life. */
  version: string
  holder: LockHolder | null
}

/**
 * Signs of life of the holders of locks, as this process has seen them by its own clock: a database
 * that moves to another machine may have another time.
 */
export class SignsOfLife {
  readonly #machine: Machine
  readonly #clock: { monotonic(): number }
  readonly #seen = new Map<string, { version: string; since: number }>()

  constructor(machine: Machine, clock: { monotonic(): number }) {
    this.#machine = machine
    this.#clock = clock
  }

  /**
   * Finds the locks whose process has certainly ended, or was not seen alive for the whole lease.
   */
  findEnded<Lock extends OtherLock>(locks: Lock[]): Lock[] {
    const now = this.#clock.monotonic()
    return locks.filter(({ token, version, holder }) => {
      if (holder === null) return false
      const last = this.#seen.get(token)
      const since = last?.version === version ? last.since : now
      this.#seen.set(token, { version, since })
      return isDead(holder, this.#machine) || now - since >= leaseMs
    })
  }
}
