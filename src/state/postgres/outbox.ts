import type { Row, Sql } from './database.ts'

/** The notifications of a workspace in a database. */
export interface OutboxRows {
  /** Name of the schema in statements. */
  schema: string
  workspace: string
  address: string
}

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

/** Stores notifications; one with the same id and receiver stays as it is. */
export async function addMessages(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
  messages: NewMessage[],
): Promise<void> {
  if (messages.length === 0) return
  await sql(
    `insert into ${schema}.outbox (workspace, address, id, receiver, text)
     select $1, $2, new.id, new.receiver, new.text
     from unnest($3::text[], $4::text[], $5::text[]) as new (id, receiver, text)
     on conflict (id, receiver) do nothing`,
    [
      workspace,
      address,
      messages.map(({ id }) => id),
      messages.map(({ receiver }) => receiver),
      messages.map(({ text }) => text),
    ],
  )
}

/** Lists the keys of receivers that have notifications which were not given up. */
export async function listReceivers(sql: Sql, rows: OutboxRows): Promise<string[]> {
  const found = await sql(
    `select distinct receiver from ${rows.schema}.outbox
     where workspace = $1 and address = $2 and given_up is null`,
    [rows.workspace, rows.address],
  )
  return found.map((row) => String(row['receiver']))
}

/**
 * Claims the oldest notification of a receiver for three minutes; null if it is not due, or
 * another process has it. A newer one waits for it.
 */
export async function claimNext(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
  receiver: string,
  claim: string,
): Promise<ClaimedMessage | null> {
  const [row] = await sql(
    `update ${schema}.outbox
     set claim = $4, claimed_until = clock_timestamp() + interval '3 minutes',
       attempts = attempts + 1
     where number = (select min(number) from ${schema}.outbox where workspace = $1
         and address = $2 and receiver = $3 and given_up is null)
       and due <= clock_timestamp()
       and (claimed_until is null or claimed_until <= clock_timestamp() or claim = $4)
     returning number, id, receiver, text, attempts`,
    [workspace, address, receiver, claim],
  )
  if (row === undefined) return null
  return {
    number: String(row['number']),
    id: String(row['id']),
    receiver,
    text: String(row['text']),
    attempts: Number(row['attempts']) - 1,
  }
}

/** Deletes a notification that was sent, whoever has claimed it since. */
export async function deleteSent(sql: Sql, schema: string, number: string): Promise<void> {
  await sql(`delete from ${schema}.outbox where number = $1`, [number])
}

/**
 * Postpones a notification by one minute, then twice as long each time, up to an hour; gives up
 * one that is a day old.
 *
 * @returns whether it was given up
 */
export async function postpone(
  sql: Sql,
  schema: string,
  number: string,
  claim: string,
  failure: string,
): Promise<boolean> {
  const [row] = await sql(
    `update ${schema}.outbox set failure = $3, claimed_until = null,
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
export async function dropReceiver(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
  receiver: string,
): Promise<number> {
  const rows = await sql(
    `delete from ${schema}.outbox
     where workspace = $1 and address = $2 and receiver = $3 and given_up is null returning number`,
    [workspace, address, receiver],
  )
  return rows.length
}

/** Counts what waits and what was given up, with the age of the oldest that waits, s. */
export async function countMessages(
  sql: Sql,
  { schema, workspace, address }: OutboxRows,
): Promise<{ pending: number; givenUp: number; oldestSeconds: number }> {
  const [row]: (Row | undefined)[] = await sql(
    `select count(*) filter (where given_up is null) as pending, count(given_up) as given_up,
       coalesce(extract(epoch from clock_timestamp()
         - min(created) filter (where given_up is null)), 0) as oldest
     from ${schema}.outbox where workspace = $1 and address = $2`,
    [workspace, address],
  )
  const read = (name: string) => Number(row?.[name] ?? 0)
  return { pending: read('pending'), givenUp: read('given_up'), oldestSeconds: read('oldest') }
}
