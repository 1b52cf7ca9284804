import type { Row } from '../../../src/state/postgres/database.ts'
import type { Transaction } from './engine.ts'
import type { Statement } from './statement.ts'

const table = 'calls'
const clock = 'clock as materialized (select clock_timestamp() as time)'
const measure = (span: string) => `(extract(epoch from ${span}) * 1000)::float8`
const count = (ms: string) => `${ms} * interval '1 millisecond'`

/** What the statements of src/state/postgres/call-statements.ts do. Times are ms since 1970. */
export const callStatements: Record<string, Statement> = {
  [`with ${clock}
    select owner, change, wanted, wanted_until > time as is_waiting,
      ${measure('wanted_from - time')} as from_ms, ${measure('wanted_until - time')} as until_ms,
      array(select ${measure('time - each')} from unnest(ended) with ordinality as e (each, n)
            order by n) as ages, counts,
      (select text from files where path = $1) as file
    from clock left join calls on account = $1`]: (transaction, [account]) => {
    const time = transaction.engine.now()
    const file = transaction.get('files', String(account))?.['text'] ?? null
    const rows = transaction.rows(table, (_key, row) => row['account'] === account)
    if (rows.length === 0) return [{ owner: null, change: null, file }]
    return rows.map(([, row]) => ({
      owner: row['owner'],
      change: row['change'],
      wanted: row['wanted'],
      is_waiting: Number(row['wanted_until']) > time,
      from_ms: Number(row['wanted_from']) - time,
      until_ms: Number(row['wanted_until']) - time,
      ages: (row['ended'] as number[]).map((each) => time - each),
      counts: row['counts'],
      file,
    }))
  },
  [`with ${clock}
    insert into calls as old (account, owner, change, ended, counts)
    select $1, $2, $3,
      array(select time - ${count('age')} from unnest($4::float8[]) with ordinality as a (age, n)
            order by n), $5
    from clock
    on conflict (account, owner) do update
    set change = excluded.change, ended = excluded.ended, counts = excluded.counts,
      wanted = coalesce($6, old.wanted),
      wanted_from = case when $6::integer is null then old.wanted_from else clock_timestamp() end,
      wanted_until = case when $6::integer is null then old.wanted_until
        else clock_timestamp() + ${count('$7::float8')} end`]: async (
    transaction,
    [account, owner, change, ages, counts, wanted, waitingMs],
  ) => {
    const time = transaction.engine.now()
    const ended = (ages as number[]).map((age) => time - age)
    await upsert(transaction, { account, owner, change, ended, counts }, () => {
      const now = transaction.engine.now()
      const waiting = { wanted, wanted_from: now, wanted_until: now + Number(waitingMs) }
      return { change, ended, counts, ...(wanted === null ? {} : waiting) }
    })
    return []
  },
  [`with ${clock}
    insert into calls (account, owner, wanted, wanted_from, wanted_until)
    select $1, $2, $3, time + ${count('$4::float8')}, time + ${count('$5::float8')} from clock
    on conflict (account, owner) do update set wanted = excluded.wanted,
      wanted_from = excluded.wanted_from, wanted_until = excluded.wanted_until`]: async (
    transaction,
    [account, owner, wanted, inMs, waitingMs],
  ) => {
    const time = transaction.engine.now()
    const waiting = {
      wanted,
      wanted_from: time + Number(inMs),
      wanted_until: time + Number(waitingMs),
    }
    await upsert(transaction, { account, owner, ...waiting }, () => waiting)
    return []
  },
  [`with ${clock}
    delete from calls using clock
    where account = $1 and owner <> $2 and wanted_until < time
      and time - interval '1 minute' > all (ended)`]: async (transaction, [account, owner]) => {
    const time = transaction.engine.now()
    const isMeant = (row: Row) =>
      row['account'] === account &&
      row['owner'] !== owner &&
      Number(row['wanted_until']) < time &&
      (row['ended'] as number[]).every((each) => time - 60_000 > each)
    for (const [key] of transaction.rows(table, (_key, row) => isMeant(row)))
      if ((await transaction.lockRow(table, key, 'exclusive', isMeant)) !== undefined)
        transaction.put(table, key, null)
    return []
  },
}

const defaults = { change: '', ended: [], counts: [], wanted: 0, wanted_from: 0, wanted_until: 0 }

/** Inserts a row, or changes the one of the same process. */
async function upsert(transaction: Transaction, row: Row, change: () => Row): Promise<void> {
  const key = `${String(row['account'])} ${String(row['owner'])}`
  if (await transaction.insert(table, key, { ...defaults, ...row })) return
  const old = await transaction.lockRow(table, key, 'exclusive')
  transaction.put(table, key, { ...old, ...change() })
}
