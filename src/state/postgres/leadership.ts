import { getProcessId, parseProcessId, type Machine, type ProcessId } from '../locks/machine.ts'
import type { Database, Row, Sql } from './database.ts'

/** Time without a sign of life after which another replica becomes the leader, ms. */
export const leaderMs = 10_000

/** Time between two hand-overs of a workspace, ms: a remote that fails for all moves nothing. */
const handOverMs = 10 * 60_000

/** A term of a leader. */
export interface Term {
  /** Fencing number: greater than those of all earlier terms. */
  number: number
  /** Process of the leader before it; null if it resigned, or if there was none. */
  previous: ProcessId | null
  /** How often the leader was woken before this term. */
  wakes: number
}

export type Leadership = ReturnType<typeof createLeadership>

/**
 * Creates the election of the one process that is the controller of a workspace. Times are those of
 * the database's clock.
 *
 * @param workspace path of the workspace's state
 */
export function createLeadership(database: Database, workspace: string) {
  const table = `${database.schema}.leaders`
  return {
    workspace,
    /**
     * Becomes the leader if there is none, or none with a sign of life; null otherwise.
     *
     * @param token unique for this process
     */
    campaign: (token: string, machine: Machine): Promise<Term | null> =>
      database.transact((sql) => campaign(sql, table, workspace, token, machine)),
    /**
     * Gives a sign of life, and returns how often the leader was woken so far; null if another
     * process is the leader now.
     */
    renew: (term: number): Promise<number | null> =>
      database.transact(async (sql) => {
        const [row] = await sql(
          `update ${table} set seen_at = clock_timestamp()
           where workspace = $1 and number = $2 returning wakes`,
          [workspace, term],
        )
        return row === undefined ? null : Number(row['wakes'])
      }),
    /** Returns whether the term has not ended. */
    isCurrent: (term: number): Promise<boolean> =>
      database.read(async (sql) => {
        const [row] = await sql(`select number from ${table} where workspace = $1`, [workspace])
        return Number(row?.['number']) === term
      }),
    /** Ends the term, so that another process becomes the leader at once. */
    resign: (term: number): Promise<void> =>
      database.transact(async (sql) => {
        await sql(
          `update ${table} set token = null, process = '{}', seen_at = 'epoch'
           where workspace = $1 and number = $2`,
          [workspace, term],
        )
      }),
    /** Wakes the leader, which may be another process. */
    wake: (): Promise<void> =>
      database.transact(async (sql) => {
        await sql(`update ${table} set wakes = wakes + 1 where workspace = $1`, [workspace])
      }),
    ...createTurns(database, table, workspace),
  }
}

/** Creates what the replicas of a controller do in turn. */
function createTurns(database: Database, table: string, workspace: string) {
  const fetch = `${workspace} fetch`
  return {
    /**
     * Does work while no other process does work so; null while another one does. The end of the
     * process ends that, too.
     */
    tryAlone: <T>(work: () => Promise<T>): Promise<(() => T) | null> =>
      database.transact(async (sql) => {
        const lock = 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free'
        const [row] = await sql(lock, [`${table} ${workspace}`])
        if (row?.['free'] !== true) return null
        await sql('set local idle_in_transaction_session_timeout = 0')
        // An error of the work is none of the database.
        return work().then(
          (done) => () => done,
          (error: unknown) => () => {
            throw error
          },
        )
      }),
    /** Notes that a replica has fetched the branch. */
    noteFetched: (replica: string, machine: Machine) =>
      database.transact((sql) => campaign(sql, table, fetch, replica, machine, 0)),
    /** Finds the replica that has fetched the branch last, within this time; null for none. */
    findFetched: (withinMs: number) =>
      database.transact(async (sql) => {
        const row = await find(sql, table, fetch, withinMs)
        return row?.['ended'] === false ? row['token'] : null
      }),
    /** Claims a hand-over for a replica; null if another one had it within ten minutes. */
    claimHandOver: (replica: string, machine: Machine) =>
      database.transact((sql) =>
        campaign(sql, table, `${workspace} hand-over`, replica, machine, handOverMs),
      ),
  }
}

async function campaign(
  sql: Sql,
  table: string,
  workspace: string,
  token: string,
  machine: Machine,
  leaseMs = leaderMs,
): Promise<Term | null> {
  await sql(`insert into ${table} (workspace) values ($1) on conflict do nothing`, [workspace])
  const row = await find(sql, table, workspace, leaseMs)
  const next = row === undefined ? null : computeNextTerm(row, token)
  if (next === null) return null
  await sql(
    `update ${table} set number = $2, token = $3, process = $4, seen_at = clock_timestamp()
     where workspace = $1`,
    [workspace, next.number, token, JSON.stringify(getProcessId(machine))],
  )
  return next
}

/** Finds the last term; `ended`: without a sign of life for this time. */
async function find(
  sql: Sql,
  table: string,
  workspace: string,
  leaseMs: number,
): Promise<Row | undefined> {
  const [row] = await sql(
    `select number, token, process, wakes,
       seen_at < clock_timestamp() - $2 * interval '1 millisecond' as ended
     from ${table} where workspace = $1 for update`,
    [workspace, leaseMs],
  )
  return row
}

/**
 * Computes the term that a process may begin; null while another process is the leader.
 *
 * @param row of the last term
 * @param token of the process: its own last term ends if it begins another
 */
export function computeNextTerm(row: Row, token: string): Term | null {
  const isOwn = row['token'] === token
  if (row['ended'] !== true && !isOwn) return null
  const previous = isOwn ? null : parseProcessId(String(row['process']))
  return { number: Number(row['number']) + 1, previous, wakes: Number(row['wakes']) }
}
