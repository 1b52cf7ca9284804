import type { Database, Sql } from './database.ts'
import { ensureBoard } from './tables.ts'

/** A text that a process has posted; its age is by the database's clock, ms. */
export interface Posted {
  text: string
  ageMs: number
}

/** Time between two hand-overs of a workspace: a remote that fails for all moves nothing. */
const handOverPause = "interval '10 minutes'"

export type Board = ReturnType<typeof createBoard>

/**
 * Creates the board of a workspace: what its replicas tell each other, each text under a name.
 * Unlike state, nothing depends on it but what is shown, and who leads.
 *
 * @param workspace path of the workspace's state
 */
export function createBoard(database: Database, workspace: string) {
  const table = `${database.schema}.board`
  const hasFetched = `exists (select from ${table} where workspace = $1 and name like 'fetch %'
    and name <> 'fetch ' || $2 and at > clock_timestamp() - $3 * interval '1 millisecond')`
  let ensured: Promise<void> | null = null
  const ensure = async (): Promise<void> => {
    ensured ??= database.transact((sql) => ensureBoard(sql, database.schema))
    await ensured.catch((error: unknown) => {
      ensured = null
      throw error
    })
  }
  const read = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    await ensure()
    return database.read(work)
  }
  const transact = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    await ensure()
    return database.transact(work)
  }
  const post = (name: string, text: string): Promise<void> =>
    transact(async (sql) => {
      await sql(
        `insert into ${table} (workspace, name, text) values ($1, $2, $3)
         on conflict (workspace, name) do update
         set text = excluded.text, at = clock_timestamp()`,
        [workspace, name, text],
      )
      await sql(
        `delete from ${table} where workspace = $1 and name like 'fetch %'
         and at < clock_timestamp() - interval '1 day'`,
        [workspace],
      )
    })
  return {
    post,
    /** Reads all that is posted, by name. */
    read: (): Promise<ReadonlyMap<string, Posted>> =>
      read(async (sql) => {
        const rows = await sql(
          `select name, text, extract(epoch from clock_timestamp() - at) * 1000 as age
           from ${table} where workspace = $1`,
          [workspace],
        )
        return new Map(
          rows.map(({ name, text, age }) => [
            String(name),
            { text: String(text), ageMs: Number(age) },
          ]),
        )
      }),
    /** Posts that a replica has fetched the branch. */
    postFetched: (replica: string, commit: string) => post(`fetch ${replica}`, commit),
    /** Returns whether another replica has fetched the branch in this time. */
    hasOtherFetched: (replica: string, withinMs: number): Promise<boolean> =>
      read(async (sql) => {
        const [row] = await sql(`select ${hasFetched} as fetched`, [workspace, replica, withinMs])
        return row?.['fetched'] === true
      }),
    /**
     * Claims a hand-over for a replica; returns whether it may: another one must have fetched the
     * branch in this time, and no other hand-over may be younger than ten minutes.
     */
    claimHandOver: (replica: string, withinMs: number): Promise<boolean> =>
      transact(async (sql) => {
        const rows = await sql(
          `insert into ${table} as board (workspace, name, text)
           select $1, 'hand-over', $2 where ${hasFetched}
           on conflict (workspace, name) do update set text = excluded.text, at = excluded.at
           where board.at < clock_timestamp() - ${handOverPause} or board.text = $2
           returning name`,
          [workspace, replica, withinMs],
        )
        return rows.length > 0
      }),
  }
}
