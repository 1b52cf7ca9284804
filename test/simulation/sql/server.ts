import type { Row } from '../../../src/state/postgres/database.ts'
import { Engine, Transaction } from './engine.ts'
import { SqlFailure } from './sql-failure.ts'
import { findStatement } from './statements.ts'

/** Time as the server needs it: true time, ms, and something to do later. */
export interface ServerTime {
  now(): number
  after(ms: number, run: () => void): void
}

/** A PostgreSQL server with one schema, which knows the statements that the product sends. */
export class SqlServer {
  readonly engine: Engine
  readonly time: ServerTime
  /** Called before each statement of a client. */
  onStatement: () => void = () => {}
  readonly #sessions = new Set<SqlSession>()
  #isUp = true

  constructor(time: ServerTime) {
    this.time = time
    this.engine = new Engine(() => time.now())
  }

  /** @throws SqlFailure while it is down */
  connect(): SqlSession {
    if (!this.#isUp) throw new SqlFailure('57P03', 'the database system is starting up')
    const session = new SqlSession(this)
    this.#sessions.add(session)
    return session
  }

  /** Ends all connections; open transactions are lost, and what is committed stays. */
  stop(): void {
    this.#isUp = false
    for (const session of this.#sessions)
      session.end(new SqlFailure('57P01', 'terminating connection due to administrator command'))
    this.#sessions.clear()
  }

  start(): void {
    this.#isUp = true
  }

  forget(session: SqlSession): void {
    this.#sessions.delete(session)
  }
}

/** A connection of a server, and its transaction. */
export class SqlSession {
  readonly #server: SqlServer
  #transaction: Transaction | null = null
  #isFailed = false
  #isBusy = false
  /** The client is gone: the session ends when the server reads from it again. */
  #isLost = false
  /** Why it has ended. */
  #ended: SqlFailure | null = null
  #idleMs = Infinity
  /** Number of statements: an idle time is over with the next one. */
  #statements = 0

  constructor(server: SqlServer) {
    this.#server = server
  }

  get hasEnded(): boolean {
    return this.#ended !== null
  }

  /**
   * Runs a statement.
   *
   * @throws SqlFailure; a TypeError for a statement that it does not know
   */
  async query(text: string, values: unknown[] = []): Promise<{ rows: Row[] }> {
    this.#server.onStatement()
    if (this.#ended !== null) throw this.#ended
    this.#isBusy = true
    this.#statements++
    try {
      return { rows: await this.#run(text, values) }
    } catch (error) {
      this.#isFailed = true
      throw this.#ended ?? error
    } finally {
      this.#isBusy = false
      if (this.#isLost) this.lose()
      else this.#waitIdle(this.#statements)
    }
  }

  /** Ends the session because its client is gone: after its statement, if one runs. */
  lose(): void {
    this.#isLost = true
    if (!this.#isBusy) this.end(new SqlFailure('08006', 'the connection is lost'))
  }

  /** Ends the session at once. */
  end(why: SqlFailure): void {
    this.#ended ??= why
    this.#server.forget(this)
    this.#transaction?.end(why)
    this.#transaction = null
  }

  async #run(text: string, values: unknown[]): Promise<Row[]> {
    if (text.startsWith('begin ')) return this.#begin(text)
    if (text === 'commit') return this.#commit()
    const statement = findStatement(text)
    if (this.#transaction === null) throw new TypeError(`expected a transaction for ${text}`)
    if (this.#isFailed) throw new SqlFailure('25P02', 'current transaction is aborted')
    return statement(this.#transaction, values)
  }

  #begin(text: string): Row[] {
    const [, isolation = ''] = /^begin isolation level (\w+ \w+)/.exec(text) ?? []
    const isRepeatable = isolation === 'repeatable read'
    if (!isRepeatable && isolation !== 'read committed')
      throw new TypeError(`expected a level of isolation that the simulation knows: ${text}`)
    const [, idle] = /idle_in_transaction_session_timeout = '(\d+)s'/.exec(text) ?? []
    this.#idleMs = idle === undefined ? Infinity : Number(idle) * 1000
    this.#isFailed = false
    this.#transaction = new Transaction(this.#server.engine, isRepeatable)
    return []
  }

  /** Commits the transaction, or rolls it back, without a failure, after one that failed. */
  #commit(): Row[] {
    if (this.#isFailed) this.#transaction?.end(new SqlFailure('25P02', 'it is rolled back'))
    else this.#transaction?.commit()
    this.#transaction = null
    return []
  }

  #waitIdle(statements: number): void {
    if (this.#transaction === null || this.#idleMs === Infinity) return
    this.#server.time.after(this.#idleMs, () => {
      if (this.#transaction === null || this.#isBusy || this.#statements !== statements) return
      this.end(new SqlFailure('25P03', 'terminating connection due to idle-in-transaction timeout'))
    })
  }
}
