import { createHash } from 'node:crypto'
import type { CallLedger, TimedCalls } from '../../core/model/call-ledger.ts'
import { parseJson } from '../../core/model/json.ts'
import { parseCalls, toUptimes, type MachineTimes } from '../format/calls.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import {
  deleteOld,
  findCalls,
  replaceCalls,
  replaceWanted,
  takeFile,
  type CallRows,
} from './call-statements.ts'
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
  let changes = 0
  let isNew = true
  let recording: Promise<void> | null = null

  const replace = (sql: Sql, own: TimedCalls[], change: string, wanted: number | null) =>
    replaceCalls(sql, rows, own, here().up, change, wanted)
  return {
    load: (wanted) =>
      database.transact(async (sql) => {
        if (wanted !== undefined) await replaceWanted(sql, rows, wanted)
        return (await findAll(sql, rows, here)).others
      }),
    reserve: (own, allows, wanted) =>
      queue(() => {
        const change = String(++changes)
        return database.transact(async (sql) => {
          await lockAccount(sql, rows)
          const found = await findAll(sql, rows, here)
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
          if (isNew) await tidy(sql, rows, database.newId(), here)
          await replace(sql, own(), change, null)
        })
      }).then(() => {
        isNew = false
      })
      return recording
    },
  }
}

/** Finds the calls that count: those in the table, and those in a file. */
async function findAll(sql: Sql, rows: CallRows, here: () => MachineTimes) {
  const { others, change, file } = await findCalls(sql, rows, () => here().up)
  return { others: { ...others, calls: [...others.calls, ...parseText(file, here())] }, change }
}

/**
 * Moves calls from the file to the table, and deletes what does not count any more.
 *
 * @param owner of the moved calls
 */
async function tidy(sql: Sql, rows: CallRows, owner: string, here: () => MachineTimes) {
  await lockAccount(sql, rows)
  await deleteOld(sql, rows)
  const moved = parseText(await takeFile(sql, rows), here())
  if (moved.length > 0) await replaceCalls(sql, { ...rows, owner }, moved, here().up, '', null)
}

function parseText(file: string | null, here: MachineTimes): TimedCalls[] {
  return toUptimes(parseCalls(parseJson(file ?? 'null')).calls, here)
}

/** Lets no other process reserve calls of the account until the end of the transaction. */
async function lockAccount(sql: Sql, { schema, account }: CallRows): Promise<void> {
  await sql('select pg_advisory_xact_lock($1)', [buildLockNumber(schema, account)])
}

/** Builds the number of the advisory lock of an account: a hash. */
function buildLockNumber(schema: string, account: string): string {
  return createHash('sha256').update(`${schema} ${account}`).digest().readBigInt64BE().toString()
}
