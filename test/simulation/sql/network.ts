import type { Connection, ConnectionPool } from '../../../src/state/postgres/database.ts'
import type { Faults } from '../faults.ts'
import type { Process } from '../machine.ts'
import type { SqlServer, SqlSession } from './server.ts'
import { SqlFailure } from './sql-failure.ts'

/** Times of src/state/postgres/create-pool.ts, ms. */
const [connectMs, statementMs] = [10_000, 60_000]
/** A transaction has some statements: a fault of one is less probable than one of a push. */
const perStatement = 0.2

/**
 * Creates the connections of a process to a server. Each contact takes time, may fail before or
 * after its effect, and may be the last one of the process.
 */
export function createPool(process: Process, server: SqlServer, faults: Faults): ConnectionPool {
  const idle: Session[] = []
  return {
    connect: async () => {
      for (;;) {
        const session = idle.pop()
        if (session === undefined) break
        // The client has noticed the end of an idle connection, or it has not.
        if (!session.isBroken || process.chance.happens(0.5)) return lend(session, idle)
      }
      const session = await exchange(process, faults, 'connects', connectMs, {
        act: async () => new Session(process, server.connect()),
        fail: () => undefined,
      })
      return lend(session, idle)
    },
  }

  function lend(session: Session, pool: Session[]): Connection {
    return {
      query: (statement, values) => session.query(statement, values, faults),
      on: () => undefined,
      off: () => undefined,
      release: (end) => {
        if (end) session.leave()
        else pool.push(session)
      },
    }
  }
}

/** A connection as its client sees it. */
class Session {
  readonly #process: Process
  readonly #server: SqlSession
  #isCut = false

  constructor(process: Process, server: SqlSession) {
    this.#process = process
    this.#server = server
    void process.killed.then(() => this.leave())
  }

  get isBroken(): boolean {
    return this.#isCut || this.#server.hasEnded
  }

  query(
    text: string,
    values: unknown[] | undefined,
    faults: Faults,
  ): ReturnType<SqlSession['query']> {
    const { world } = this.#process
    if (this.#isCut)
      return Promise.reject(
        new SqlFailure('', 'Client has encountered a connection error and is not queryable'),
      )
    const what = text.replaceAll(/\s+/g, ' ').slice(0, 40)
    return exchange(this.#process, faults, what, statementMs, {
      act: () =>
        this.#server.query(text, values).catch((error: unknown) => {
          // The client would report it as a failure of the database.
          if (!(error instanceof SqlFailure))
            world.violated('every statement is known', String(error))
          throw error
        }),
      fail: () => {
        this.#isCut = true
        this.leave()
      },
    })
  }

  /** Ends the connection: the server notices soon, or not at all. */
  leave(): void {
    const { chance, machine, world } = this.#process
    this.#isCut = true
    if (machine.cutOffUntil <= world.time && chance.happens(0.8))
      world.after(chance.between(1, 2000), () => this.#server.lose())
  }
}

/** A contact: its effect at the server, and what happens when the connection is lost. */
interface Contact<T> {
  act(): Promise<T>
  fail(): void
}

function exchange<T>(
  process: Process,
  faults: Faults,
  what: string,
  timeoutMs: number,
  { act, fail }: Contact<T>,
): Promise<T> {
  const { chance, machine, world } = process
  const isSlow = chance.happens(faults.remoteSlow * perStatement)
  const isCutOff = machine.cutOffUntil > world.time
  const isLost = !isCutOff && chance.happens(faults.remoteError * perStatement)
  const isDone = isLost && chance.happens(0.5)
  const drawDelay = () => (isSlow ? chance.between(1, 20_000) : chance.between(0, 3))
  return new Promise((resolve, reject) => {
    if (!process.alive || process.mayDie(`before: ${what}`)) return
    let isOver = false
    const finish = (ms: number, then: () => void) =>
      process.after(ms, () => {
        if (isOver) return
        isOver = true
        if (!process.mayDie(`after: ${what}`)) then()
      })
    const lose = (ms: number, code: string, message: string) =>
      finish(ms, () => {
        const error = new SqlFailure(code, message)
        world.count(`database: ${isDone ? 'answer lost' : 'connection lost'}`)
        process.log(`${what}: ${error.message}`)
        fail()
        reject(error)
      })
    const text =
      timeoutMs === connectMs ? 'timeout exceeded when trying to connect' : 'Query read timeout'
    lose(timeoutMs, '', text)
    const loseSoon = () => {
      if (chance.happens(0.7)) lose(drawDelay(), 'ECONNRESET', 'Connection terminated unexpectedly')
    }
    if (isSlow) world.count('database: slow')
    if (isCutOff || (isLost && !isDone)) return loseSoon()
    world.after(drawDelay(), () => {
      const answer = (then: () => void) => (isDone ? loseSoon() : finish(drawDelay(), then))
      void act().then(
        (value) => answer(() => resolve(value)),
        (error: Error) => answer(() => reject(error)),
      )
    })
  })
}
