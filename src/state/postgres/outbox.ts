import { formatLock, parseLock, type LockHolder } from '../format/lock-file.ts'
import { leaseMs } from '../locks/lease.ts'
import { isDead, type Machine } from '../locks/machine.ts'
import type { Sql } from './database.ts'

/** A notification for one receiver, to be stored. */
export interface NewMessage {
  id: string
  receiver: string
  text: string
}

/** A notification that this process may send for some time. */
export interface ClaimedMessage extends NewMessage {
  number: string
  /** Earlier attempts. */
  attempts: number
}

/** An apply whose process ended before it reported its outcome. */
interface LostApply {
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

/** The notifications of a workspace in a database, and what they are about. */
export class OutboxRows {
  readonly #schema: string
  readonly #owner: [workspace: string, address: string]

  /** @param schema its name in statements */
  constructor(schema: string, workspace: string, address: string) {
    this.#schema = schema
    this.#owner = [workspace, address]
  }

  /** Stores notifications; one with the same id and receiver stays as it is. */
  async add(sql: Sql, messages: NewMessage[]): Promise<void> {
    if (messages.length === 0) return
    await sql(
      `insert into ${this.#schema}.outbox (workspace, address, id, receiver, text)
       select $1, $2, new.id, new.receiver, new.text
       from unnest($3::text[], $4::text[], $5::text[]) as new (id, receiver, text)
       on conflict (id, receiver) do nothing`,
      [
        ...this.#owner,
        ...(['id', 'receiver', 'text'] as const).map((key) => messages.map((each) => each[key])),
      ],
    )
  }

  /** Lists the keys of receivers that have notifications which were not given up. */
  async listReceivers(sql: Sql): Promise<string[]> {
    const found = await sql(
      `select distinct receiver from ${this.#schema}.outbox
       where workspace = $1 and address = $2 and given_up is null`,
      this.#owner,
    )
    return found.map((row) => String(row['receiver']))
  }

  /**
   * Claims the oldest notification of a receiver for three minutes; null if it is not due, or
   * another process has it. A newer one waits for it.
   */
  async claimNext(sql: Sql, receiver: string, claim: string): Promise<ClaimedMessage | null> {
    const [row] = await sql(
      `update ${this.#schema}.outbox
       set claim = $4, claimed_until = clock_timestamp() + interval '3 minutes',
         attempts = attempts + 1
       where number = (select min(number) from ${this.#schema}.outbox where workspace = $1
           and address = $2 and receiver = $3 and given_up is null)
         and due <= clock_timestamp()
         and (claimed_until is null or claimed_until <= clock_timestamp() or claim = $4)
       returning number, id, receiver, text, attempts`,
      [...this.#owner, receiver, claim],
    )
    if (row === undefined) return null
    const read = (name: string) => String(row[name])
    const attempts = Number(row['attempts']) - 1
    return { number: read('number'), id: read('id'), receiver, text: read('text'), attempts }
  }

  /** Deletes a notification that was sent, whoever has claimed it since. */
  async deleteSent(sql: Sql, number: string): Promise<void> {
    await sql(`delete from ${this.#schema}.outbox where number = $1`, [number])
  }

  /**
   * Postpones a notification by one minute, then twice as long each time, up to an hour; gives up
   * one that is a day old. Returns whether it was given up.
   */
  async postpone(sql: Sql, number: string, claim: string, failure: string): Promise<boolean> {
    const [row] = await sql(
      `update ${this.#schema}.outbox set failure = $3, claimed_until = null,
         due = clock_timestamp()
           + least(interval '1 hour', interval '1 minute' * power(2, least(attempts, 10) - 1)),
         given_up = case when created <= clock_timestamp() - interval '24 hours'
           then clock_timestamp() end
       where number = $1 and claim = $2 returning given_up`,
      [number, claim, failure],
    )
    return row !== undefined && row['given_up'] !== null
  }

  /** Deletes what waits for a receiver; returns how many notifications. */
  async dropReceiver(sql: Sql, receiver: string): Promise<number> {
    const rows = await sql(
      `delete from ${this.#schema}.outbox where workspace = $1 and address = $2
       and receiver = $3 and given_up is null returning number`,
      [...this.#owner, receiver],
    )
    return rows.length
  }

  /** Counts what waits and what was given up, with the age of the oldest that waits, s. */
  async count(sql: Sql): Promise<{ pending: number; givenUp: number; oldestSeconds: number }> {
    const [row = {}] = await sql(
      `select count(*) filter (where given_up is null) as pending, count(given_up) as given_up,
         coalesce(extract(epoch from clock_timestamp()
           - min(created) filter (where given_up is null)), 0) as oldest
       from ${this.#schema}.outbox where workspace = $1 and address = $2`,
      this.#owner,
    )
    const read = (name: string) => Number(row[name] ?? 0)
    return { pending: read('pending'), givenUp: read('given_up'), oldestSeconds: read('oldest') }
  }

  /** Records that an apply begins, so that others report it if this process does not. */
  async addBegun(sql: Sql, holder: LockHolder): Promise<void> {
    await sql(
      `insert into ${this.#schema}.outbox_begun (token, workspace, address, holder)
       values ($1, $2, $3, $4) on conflict (token) do nothing`,
      [holder.token, ...this.#owner, formatLock({ holder, revoked: [] }, 0)],
    )
  }

  /** Shows that the process of an apply is alive. */
  async showAlive(sql: Sql, token: string): Promise<void> {
    const table = `${this.#schema}.outbox_begun`
    await sql(`update ${table} set seen_at = clock_timestamp() where token = $1`, [token])
  }

  /** Ends applies that began: each is reported in the same transaction. */
  async deleteBegun(sql: Sql, tokens: string[]): Promise<void> {
    await sql(`delete from ${this.#schema}.outbox_begun where token = any($1)`, [tokens])
  }

  /**
   * Takes the applies whose process has ended, or showed no sign of life for a lease. One that is
   * only suspended reports its outcome later, beside what others report now.
   */
  async takeLost(sql: Sql, machine: Machine): Promise<LostApply[]> {
    const rows = await sql(
      `select token, holder, begun,
         clock_timestamp() - seen_at >= $3 * interval '1 millisecond' as is_old
       from ${this.#schema}.outbox_begun where workspace = $1 and address = $2
       order by begun for update skip locked`,
      [...this.#owner, leaseMs],
    )
    const lost = rows.flatMap(({ token, holder: text, begun, is_old: isOld }) => {
      const { holder } = parseLock(String(text))
      const isLost = isOld === true || (holder !== null && isDead(holder, machine))
      const at = begun instanceof Date ? begun.toISOString() : String(begun)
      const who = holder?.who ?? 'another process'
      return isLost ? [{ token: String(token), begun: at, who }] : []
    })
    const tokens = lost.map(({ token }) => token)
    if (tokens.length > 0) await this.deleteBegun(sql, tokens)
    return lost
  }

  /** Replaces the drift that was reported last, and returns it; null if it is the same. */
  async replaceDrift(
    sql: Sql,
    scope: string,
    { hash, items, domains }: ReportedDrift,
  ): Promise<ReportedDrift | null> {
    const [key, table] = [[...this.#owner, scope], `${this.#schema}.outbox_drift`]
    await sql(`insert into ${table} values ($1, $2, $3, '', 0, 0) on conflict do nothing`, key)
    const where = 'where workspace = $1 and address = $2 and scope = $3'
    const [row] = await sql(`select hash, items, domains from ${table} ${where} for update`, key)
    const before = {
      hash: String(row?.['hash']),
      items: Number(row?.['items']),
      domains: Number(row?.['domains']),
    }
    if (before.hash === hash) return null
    const changed = 'hash = $4, items = $5, domains = $6'
    await sql(`update ${table} set ${changed} ${where}`, [...key, hash, items, domains])
    return before
  }
}
