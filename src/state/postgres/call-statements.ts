import type { OtherCalls, TimedCalls, WantedCalls } from '../../core/model/call-ledger.ts'
import type { Row, Sql } from './database.ts'

/** How long a process counts as waiting after it has shown that, ms. */
const waitingMs = 5000

/** The calls of an account, and the process among them that is this one. */
export interface CallRows {
  /** Name of the schema in statements. */
  schema: string
  /** Path of the account's calls, in files too. */
  account: string
  owner: string
}

/** What the rows have; times by the monotonic clock of this machine, ms. */
export interface FoundCalls {
  others: OtherCalls
  /** The last change of this process that took effect; null without any. */
  change: string | null
  /** The file of calls that another program left; null without any. */
  file: string | null
}

/** The time of a statement; `now()` is that of the begin of its transaction. */
const clock = `clock as materialized (select clock_timestamp() as time)`
const count = (ms: string) => `${ms} * interval '1 millisecond'`
const measure = (span: string) => `(extract(epoch from ${span}) * 1000)::float8`

/**
 * Finds the calls that count. A time is the moment after the answer arrived minus the age that it
 * has: later than the true one by the way of the answer.
 *
 * @param readUptime returns the monotonic clock, ms
 */
export async function findCalls(
  sql: Sql,
  { schema, account, owner }: CallRows,
  readUptime: () => number,
): Promise<FoundCalls> {
  const rows = await sql(
    `with ${clock}
     select owner, change, wanted, wanted_until > time as is_waiting,
       ${measure('wanted_from - time')} as from_ms, ${measure('wanted_until - time')} as until_ms,
       array(select ${measure('time - each')} from unnest(ended) with ordinality as e (each, n)
             order by n) as ages, counts,
       (select text from ${schema}.files where path = $1) as file
     from clock left join ${schema}.calls on account = $1`,
    [account],
  )
  const up = readUptime()
  const others: OtherCalls = { calls: [], waiting: [] }
  for (const row of rows) {
    if (row['owner'] === null || row['owner'] === owner) continue
    const calls = readCalls(row, up)
    others.calls = [...others.calls, ...calls]
    if (row['is_waiting'] !== true) continue
    others.waiting.push({
      used: calls.reduce((sum, each) => sum + each.count, 0),
      wanted: Number(row['wanted']),
      from: up + Number(row['from_ms']),
      until: up + Number(row['until_ms']),
    })
  }
  const own = rows.find((row) => row['owner'] === owner)
  return { others, change: readText(own?.['change']), file: readText(rows[0]?.['file']) }
}

function readCalls(row: Row, up: number): TimedCalls[] {
  const [ages, counts] = [row['ages'] as number[], row['counts'] as number[]]
  return ages
    .map((age, i) => ({ time: up - age, count: counts[i] ?? 1 }))
    .filter(({ time }) => time > up - 60_000)
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/**
 * Replaces the calls of a process. Their ages are those before the statement is sent, so that it
 * stores times that are later than the true ones by its way.
 *
 * @param wanted calls that the process waits for from now on; null leaves the number of before
 */
export async function replaceCalls(
  sql: Sql,
  { schema, account, owner }: CallRows,
  calls: TimedCalls[],
  upMs: number,
  change: string,
  wanted: number | null,
): Promise<void> {
  await sql(
    `with ${clock}
     insert into ${schema}.calls as old (account, owner, change, ended, counts)
     select $1, $2, $3,
       array(select time - ${count('age')} from unnest($4::float8[]) with ordinality as a (age, n)
             order by n), $5
     from clock
     on conflict (account, owner) do update
     set change = excluded.change, ended = excluded.ended, counts = excluded.counts,
       wanted = coalesce($6, old.wanted),
       wanted_from = case when $6::integer is null then old.wanted_from else clock_timestamp() end,
       wanted_until = case when $6::integer is null then old.wanted_until
         else clock_timestamp() + ${count('$7::float8')} end`,
    [
      account,
      owner,
      change,
      calls.map(({ time }) => upMs - time),
      calls.map((each) => each.count),
      wanted,
      waitingMs,
    ],
  )
}

/** Shows that a process waits for calls. */
export async function replaceWanted(
  sql: Sql,
  { schema, account, owner }: CallRows,
  wanted: WantedCalls,
): Promise<void> {
  await sql(
    `with ${clock}
     insert into ${schema}.calls (account, owner, wanted, wanted_from, wanted_until)
     select $1, $2, $3, time + ${count('$4::float8')}, time + ${count('$5::float8')} from clock
     on conflict (account, owner) do update set wanted = excluded.wanted,
       wanted_from = excluded.wanted_from, wanted_until = excluded.wanted_until`,
    [account, owner, wanted.count, wanted.inMs, waitingMs],
  )
}

/** Deletes the rows of processes that are gone. Only one process does so at a time. */
export async function deleteOld(sql: Sql, { schema, account, owner }: CallRows): Promise<void> {
  await sql(
    `with ${clock}
     delete from ${schema}.calls using clock
     where account = $1 and owner <> $2 and wanted_until < time
       and time - interval '1 minute' > all (ended)`,
    [account, owner],
  )
}

/** Deletes the file of calls that another program left, and returns it; null without any. */
export async function takeFile(sql: Sql, { schema, account }: CallRows): Promise<string | null> {
  const [row] = await sql(`delete from ${schema}.files where path = $1 returning text`, [account])
  return readText(row?.['text'])
}
