import type { Row } from '../../../src/state/postgres/database.ts'
import type { Transaction } from './engine.ts'
import type { Statement } from './statement.ts'

const [outbox, begun, drift] = ['outbox', 'outbox_begun', 'outbox_drift']
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]

/** What the statements of src/state/postgres/outbox.ts do. Times are ms since 1970. */
export const outboxStatements: Record<string, Statement> = {
  [`insert into outbox (workspace, address, id, receiver, text)
    select $1, $2, new.id, new.receiver, new.text
    from unnest($3::text[], $4::text[], $5::text[]) as new (id, receiver, text)
    on conflict (id, receiver) do nothing`]: async (
    transaction,
    [workspace, address, ids, receivers, texts],
  ) => {
    const { engine } = transaction
    for (const [i, id] of (ids as string[]).entries()) {
      const receiver = (receivers as string[])[i]
      const time = engine.now()
      const row = { workspace, address, id, receiver, text: (texts as string[])[i] }
      await transaction.insert(outbox, `${id} ${receiver}`, {
        ...row,
        number: String(engine.drawNumber(outbox)),
        created: time,
        due: time,
        attempts: 0,
        failure: null,
        given_up: null,
        claim: null,
        claimed_until: null,
      })
    }
    return []
  },
  [`select distinct receiver from outbox
    where workspace = $1 and address = $2 and given_up is null`]: (transaction, owner) =>
    [...new Set(listWaiting(transaction, owner).map(([, row]) => row['receiver']))].map(
      (receiver) => ({ receiver }),
    ),
  [`update outbox
    set claim = $4, claimed_until = clock_timestamp() + interval '3 minutes',
      attempts = attempts + 1
    where number = (select min(number) from outbox where workspace = $1
        and address = $2 and receiver = $3 and given_up is null)
      and due <= clock_timestamp()
      and (claimed_until is null or claimed_until <= clock_timestamp() or claim = $4)
    returning number, id, receiver, text, attempts`]: async (
    transaction,
    [workspace, address, receiver, claim],
  ) => {
    const [first] = listWaiting(transaction, [workspace, address]).filter(
      ([, row]) => row['receiver'] === receiver,
    )
    if (first === undefined) return []
    const now = () => transaction.engine.now()
    const isMeant = (row: Row) =>
      Number(row['due']) <= now() &&
      (row['claimed_until'] === null ||
        Number(row['claimed_until']) <= now() ||
        row['claim'] === claim)
    const row = await transaction.lockRow(outbox, first[0], 'exclusive', isMeant)
    if (row === undefined) return []
    const until = now() + 3 * minuteMs
    const changed = { ...row, claim, claimed_until: until, attempts: Number(row['attempts']) + 1 }
    transaction.put(outbox, first[0], changed)
    return [changed]
  },
  'delete from outbox where number = $1': async (transaction, [number]) => {
    const rows = transaction.rows(outbox, (_key, row) => row['number'] === number)
    await remove(transaction, outbox, rows)
    return []
  },
  [`update outbox set failure = $3, claimed_until = null,
      due = clock_timestamp()
        + least(interval '1 hour', interval '1 minute' * power(2, least(attempts, 10) - 1)),
      given_up = case when created <= clock_timestamp() - interval '24 hours'
        then clock_timestamp() end
    where number = $1 and claim = $2 returning given_up`]: async (
    transaction,
    [number, claim, failure],
  ) => {
    const isMeant = (row: Row) => row['number'] === number && row['claim'] === claim
    const [found] = transaction.rows(outbox, (_key, row) => isMeant(row))
    if (found === undefined) return []
    const row = await transaction.lockRow(outbox, found[0], 'exclusive', isMeant)
    if (row === undefined) return []
    const time = transaction.engine.now()
    const waitMs = Math.min(hourMs, minuteMs * 2 ** (Math.min(Number(row['attempts']), 10) - 1))
    const givenUp = Number(row['created']) <= time - dayMs ? time : null
    const change = { failure, claimed_until: null, due: time + waitMs, given_up: givenUp }
    transaction.put(outbox, found[0], { ...row, ...change })
    return [{ given_up: givenUp }]
  },
  [`delete from outbox where workspace = $1 and address = $2
    and receiver = $3 and given_up is null returning number`]: (
    transaction,
    [workspace, address, receiver],
  ) =>
    remove(
      transaction,
      outbox,
      listWaiting(transaction, [workspace, address]).filter(
        ([, row]) => row['receiver'] === receiver,
      ),
    ),
  [`select count(*) filter (where given_up is null) as pending, count(given_up) as given_up,
      coalesce(extract(epoch from clock_timestamp()
        - min(created) filter (where given_up is null)), 0) as oldest
    from outbox where workspace = $1 and address = $2`]: (transaction, owner) => {
    const waiting = listWaiting(transaction, owner)
    const all = transaction.rows(outbox, (_key, row) => isOf(row, owner))
    const time = transaction.engine.now()
    const oldest = waiting.reduce((age, [, row]) => Math.max(age, time - Number(row['created'])), 0)
    const givenUp = all.length - waiting.length
    return [{ pending: waiting.length, given_up: givenUp, oldest: oldest / 1000 }]
  },
  [`insert into outbox_begun (token, workspace, address, holder)
    values ($1, $2, $3, $4) on conflict (token) do nothing`]: async (
    transaction,
    [token, workspace, address, holder],
  ) => {
    const time = transaction.engine.now()
    const row = { token, workspace, address, holder, begun: time, seen_at: time }
    await transaction.insert(begun, String(token), row)
    return []
  },
  'update outbox_begun set seen_at = clock_timestamp() where token = $1': async (
    transaction,
    [token],
  ) => {
    const row = await transaction.lockRow(begun, String(token), 'exclusive')
    if (row !== undefined)
      transaction.put(begun, String(token), { ...row, seen_at: transaction.engine.now() })
    return []
  },
  'delete from outbox_begun where token = any($1)': async (transaction, [tokens]) => {
    const isMeant = (token: string) => (tokens as string[]).includes(token)
    await remove(transaction, begun, transaction.rows(begun, isMeant))
    return []
  },
  // A row that another transaction has locked is waited for here.
  [`select token, holder, begun,
      clock_timestamp() - seen_at >= $3 * interval '1 millisecond' as is_old
    from outbox_begun where workspace = $1 and address = $2
    order by begun for update skip locked`]: async (transaction, [workspace, address, ms]) => {
    const found: Row[] = []
    const isMeant = (row: Row) => isOf(row, [workspace, address])
    for (const [token] of transaction.rows(begun, (_token, row) => isMeant(row))) {
      const row = await transaction.lockRow(begun, token, 'exclusive', isMeant)
      if (row === undefined) continue
      const isOld = transaction.engine.now() - Number(row['seen_at']) >= Number(ms)
      found.push({ ...row, begun: new Date(Number(row['begun'])), is_old: isOld })
    }
    return found.toSorted((a, b) => Number(a['begun']) - Number(b['begun']))
  },
  "insert into outbox_drift values ($1, $2, $3, '', 0, 0) on conflict do nothing": async (
    transaction,
    key,
  ) => {
    await transaction.insert(drift, JSON.stringify(key), { hash: '', items: 0, domains: 0 })
    return []
  },
  [`select hash, items, domains from outbox_drift
    where workspace = $1 and address = $2 and scope = $3 for update`]: async (transaction, key) => {
    const row = await transaction.lockRow(drift, JSON.stringify(key), 'exclusive')
    return row === undefined ? [] : [row]
  },
  [`update outbox_drift set hash = $4, items = $5, domains = $6
    where workspace = $1 and address = $2 and scope = $3`]: async (transaction, values) => {
    const [key, [hash, items, domains]] = [JSON.stringify(values.slice(0, 3)), values.slice(3)]
    if ((await transaction.lockRow(drift, key, 'exclusive')) !== undefined)
      transaction.put(drift, key, { hash, items, domains })
    return []
  },
}

function isOf(row: Row, [workspace, address]: unknown[]): boolean {
  return row['workspace'] === workspace && row['address'] === address
}

/** Lists the notifications of a workspace that were not given up, oldest first. */
function listWaiting(transaction: Transaction, owner: unknown[]): [string, Row][] {
  return transaction
    .rows(outbox, (_key, row) => isOf(row, owner) && row['given_up'] === null)
    .toSorted(([, a], [, b]) => Number(a['number']) - Number(b['number']))
}

async function remove(
  transaction: Transaction,
  table: string,
  rows: [string, Row][],
): Promise<Row[]> {
  const removed: Row[] = []
  for (const [key] of rows) {
    const row = await transaction.lockRow(table, key, 'exclusive')
    if (row === undefined) continue
    transaction.put(table, key, null)
    removed.push(row)
  }
  return removed
}
