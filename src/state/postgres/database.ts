/** A row of a result, by the names of its columns. */
export type Row = Record<string, unknown>

/** Runs one statement of a transaction, with values for `$1`, `$2` … */
export type Sql = (statement: string, values?: unknown[]) => Promise<Row[]>

/** Connections to a database, made on demand: the part of the client that is used. */
export interface ConnectionPool {
  connect(): Promise<Connection>
}

/** A connection, which one user has until its release. */
export interface Connection {
  query(statement: string, values?: unknown[]): Promise<{ rows: Row[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  /** Gives it back to the pool, or ends it. */
  release(end: boolean): void
}

/** A PostgreSQL database with a schema for state, whose tables exist. */
export interface Database {
  /** Its address without user and password, and the schema: for messages. */
  readonly location: string
  /** Name of the schema in statements. */
  readonly schema: string
  /** Creates a globally unique id. */
  newId(): string
  /**
   * Runs statements in one transaction. After a failure of the connection they run again, also if
   * the transaction had taken effect before: their effect must be the same then.
   *
   * @throws EdgewiseError `record-unreachable` if the database cannot be used
   */
  transact<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /**
   * Runs statements that only read, all of them as the database is at one moment.
   *
   * @throws EdgewiseError `record-unreachable` if the database cannot be used
   */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>
}
