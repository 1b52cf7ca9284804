import type { Database } from './database.ts'
import { ensureBoard } from './tables.ts'

/** Time between two hand-overs of a workspace: a remote that fails for all moves nothing. */
const handOverPause = "interval '10 minutes'"

export type Board = ReturnType<typeof createBoard>

/**
 * Creates the board of a workspace: texts that its replicas post for each other, each under a name.
 * Unlike state, nothing depends on it but what is shown, and who leads.
 *
 * @param workspace path of the workspace's state
 */
export function createBoard(opened: Database, workspace: string) {
  const database = ensure(opened)
  const table = `${opened.schema}.board`
  const isPosted = 'where workspace = $1 and name'
  const post = (name: string, text: string): Promise<void> =>
    database.transact(async (sql) => {
      await sql(
        `insert into ${table} (workspace, name, text) values ($1, $2, $3)
         on conflict (workspace, name) do update
         set text = excluded.text, at = clock_timestamp()`,
        [workspace, name, text],
      )
      const isOld = "at < clock_timestamp() - interval '1 day'"
      await sql(`delete from ${table} ${isPosted} like 'fetch %' and ${isOld}`, [workspace])
    })
  return {
    post,
    /** Reads what was posted last under a name; null for nothing. */
    read: (name: string): Promise<string | null> =>
      database.read(async (sql) => {
        const [row] = await sql(`select text from ${table} ${isPosted} = $2`, [workspace, name])
        return row === undefined ? null : String(row['text'])
      }),
    ...createHandOvers(database, table, workspace),
    /** Posts that a replica has fetched the branch. */
    postFetched: (replica: string, commit: string) => post(`fetch ${replica}`, commit),
  }
}

function createHandOvers(database: Database, table: string, workspace: string) {
  const hasFetched = `exists (select from ${table} where workspace = $1 and name like 'fetch %'
    and name <> 'fetch ' || $2 and at > clock_timestamp() - $3 * interval '1 millisecond')`
  return {
    /** Returns whether another replica has fetched the branch in this time. */
    hasOtherFetched: (replica: string, withinMs: number): Promise<boolean> =>
      database.read(async (sql) => {
        const [row] = await sql(`select ${hasFetched} as fetched`, [workspace, replica, withinMs])
        return row?.['fetched'] === true
      }),
    /**
     * Claims a hand-over for a replica; returns whether it may: another one must have fetched the
     * branch in this time, and no other hand-over may be younger than ten minutes.
     */
    claimHandOver: (replica: string, withinMs: number): Promise<boolean> =>
      database.transact(async (sql) => {
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

/** Adds the table of boards to a database that lacks it, once. */
function ensure(database: Database): Database {
  let ensured: Promise<void> | null = null
  const done = async (): Promise<void> => {
    ensured ??= database.transact((sql) => ensureBoard(sql, database.schema))
    await ensured.catch((error: unknown) => {
      ensured = null
      throw error
    })
  }
  return {
    ...database,
    transact: (work) => done().then(() => database.transact(work)),
    read: (work) => done().then(() => database.read(work)),
  }
}
