import { createHash } from 'node:crypto'
import type { CallLedger, TimedCalls } from '../../core/model/call-ledger.ts'
import { parseJson } from '../../core/model/json.ts'
import { parseCalls, toUptimes, type MachineTimes } from '../format/calls.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import { deleteOld, findCalls, replaceCalls, replaceWanted, takeFile } from './call-statements.ts'
import type { Database, Sql } from './database.ts'

/**
 * Opens the ledger of an account: its calls in a table, by the database's clock.
 *
 * @param account path of its calls. A file at this path has calls of the store that `state migrate`
 *   copied
 * @param here reads the clocks of this machine
 */
export function openPostgresLedger(
  database: Database,
  account: string,
  here: () => MachineTimes,
): CallLedger {
  const queue = createSerialQueue()
  // Not the id of the apply, which applies of two workspaces may have in common.
  const rows = { schema: database.schema, account, owner: database.newId() }
  const lock = buildLockNumber(rows.schema, account)
  let changes = 0
  let isNew = true
  let recording: Promise<void> | null = null

  const readUptime = () => here().up
  const find = async (sql: Sql) => {
    const { others, change, file } = await findCalls(sql, rows, readUptime)
    return { others: { ...others, calls: [...others.calls, ...parse(file)] }, change }
  }
  const parse = (file: string | null): TimedCalls[] =>
    toUptimes(parseCalls(parseJson(file ?? 'null')).calls, here())
  const replace = (sql: Sql, own: TimedCalls[], change: string, wanted: number | null) =>
    replaceCalls(sql, rows, own, readUptime(), change, wanted)
  /** Moves calls from the file to the table, and deletes what does not count any more. */
  const tidy = async (sql: Sql) => {
    await sql('select pg_advisory_xact_lock($1)', [lock])
    await deleteOld(sql, rows)
    const moved = parse(await takeFile(sql, rows))
    const other = { ...rows, owner: database.newId() }
    if (moved.length > 0) await replaceCalls(sql, other, moved, readUptime(), '', null)
  }
  return {
    load: (wanted) =>
      database.transact(async (sql) => {
        if (wanted !== undefined) await replaceWanted(sql, rows, wanted)
        return (await find(sql)).others
      }),
    reserve: (own, allows, wanted) =>
      queue(() => {
        const change = String(++changes)
        return database.transact(async (sql) => {
          await sql('select pg_advisory_xact_lock($1)', [lock])
          const found = await find(sql)
          // It took effect before, and the answer was lost.
          if (found.change === change) return true
          if (!allows(found.others)) return false
          await replace(sql, own(), change, wanted)
          return true
        })
      }),
    record: (own) => {
      // Once for all that ask while another change is under way.
      recording ??= queue(() => {
        recording = null
        const change = String(++changes)
        return database.transact(async (sql) => {
          if (isNew) await tidy(sql)
          await replace(sql, own(), change, null)
        })
      }).then(() => {
        isNew = false
      })
      return recording
    },
  }
}

/** Builds the number of the advisory lock of an account: a hash. */
function buildLockNumber(schema: string, account: string): string {
  return createHash('sha256').update(`${schema} ${account}`).digest().readBigInt64BE().toString()
}
