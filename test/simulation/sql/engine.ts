import type { Row } from '../../../src/state/postgres/database.ts'
import { LockTable, type LockMode } from './locks.ts'
import { SqlFailure } from './sql-failure.ts'

/** A row, and when it was committed, true time, ms. */
export interface Stored {
  row: Row
  at: number
}

type Table = Map<string, Stored>

/** Name of the table that has the other tables. */
export const catalogue = 'pg_tables'

/** Committed rows of all tables by a unique text, and the locks of open transactions. */
export class Engine {
  readonly tables = new Map<string, Table>([[catalogue, new Map()]])
  readonly locks = new LockTable<Transaction>()
  readonly now: () => number
  /** Last number of each sequence; a rollback does not give one back. */
  readonly #sequences = new Map<string, number>()

  /** @param now returns the time of the server, ms since 1970 */
  constructor(now: () => number) {
    this.now = now
  }

  /** Finds the committed rows of a table by their keys; none without the table. */
  committed(table: string): ReadonlyMap<string, Stored> {
    return this.tables.get(table) ?? new Map()
  }

  /** Draws the next number of a sequence, from 1. */
  drawNumber(sequence: string): number {
    const next = (this.#sequences.get(sequence) ?? 0) + 1
    this.#sequences.set(sequence, next)
    return next
  }
}

/**
 * A transaction that sees what others have committed before each statement (read committed), or
 * before its first one (repeatable read).
 */
export class Transaction {
  readonly engine: Engine
  readonly #isRepeatable: boolean
  /** What it sees of others; null: what is committed now. */
  #snapshot: Map<string, Table> | null = null
  readonly #changes = new Map<string, Map<string, Row | null>>()

  constructor(engine: Engine, isRepeatable: boolean) {
    this.engine = engine
    this.#isRepeatable = isRepeatable
  }

  /** Finds a row. */
  get(table: string, key: string): Row | undefined {
    const seen = this.#see(table)
    const changed = this.#changes.get(table)?.get(key)
    return changed === undefined ? seen.get(key)?.row : (changed ?? undefined)
  }

  /** Lists rows of a table by their keys, sorted by bytes. */
  rows(table: string, isMeant: (key: string, row: Row) => boolean = () => true): [string, Row][] {
    const found = new Map<string, Row>()
    for (const [key, { row }] of this.#see(table)) if (isMeant(key, row)) found.set(key, row)
    for (const [key, row] of this.#changes.get(table) ?? []) {
      if (row === null || !isMeant(key, row)) found.delete(key)
      else found.set(key, row)
    }
    return [...found].toSorted(([a], [b]) => compareBytes(a, b))
  }

  /** Waits for a lock that it has until its end. */
  lock(name: string, mode: LockMode): Promise<void> {
    return this.engine.locks.acquire(this, name, mode)
  }

  /**
   * Waits until no other transaction changes a row that fulfils a condition, and none can until
   * this one ends; undefined if the row does not fulfil it, before or then.
   */
  async lockRow(
    table: string,
    key: string,
    mode: LockMode,
    isMeant: (row: Row) => boolean = () => true,
  ): Promise<Row | undefined> {
    const before = this.get(table, key)
    if (before === undefined || !isMeant(before)) return undefined
    await this.lock(`${table} ${key}`, mode)
    const row = this.get(table, key)
    return row !== undefined && isMeant(row) ? row : undefined
  }

  /**
   * Adds a row, unless there is one with its key, for which it waits if that is not certain yet.
   * Returns whether it did.
   */
  async insert(table: string, key: string, row: Row): Promise<boolean> {
    if (this.get(table, key) !== undefined) return false
    await this.lock(`${table} ${key}`, 'exclusive')
    if (this.get(table, key) !== undefined) return false
    this.put(table, key, row)
    return true
  }

  /** Changes a row that it has locked; null removes it. */
  put(table: string, key: string, row: Row | null): void {
    if (!this.engine.locks.has(this, `${table} ${key}`, 'exclusive'))
      throw new TypeError(`expected a lock on ${key} of ${table}`)
    const changes = this.#changes.get(table) ?? new Map<string, Row | null>()
    this.#changes.set(table, changes.set(key, row))
  }

  commit(): void {
    for (const [name, changes] of this.#changes) {
      const table = this.engine.tables.get(name) ?? new Map<string, Stored>()
      this.engine.tables.set(name, table)
      for (const [key, row] of changes) {
        if (row === null) table.delete(key)
        else table.set(key, { row, at: this.engine.now() })
        if (name !== catalogue) continue
        if (row === null) this.engine.tables.delete(key)
        else this.engine.tables.set(key, new Map())
      }
    }
    this.end(new SqlFailure('25P01', 'the transaction is over'))
  }

  /** Ends it, so that others get its locks. */
  end(error: SqlFailure): void {
    this.#changes.clear()
    this.engine.locks.releaseAll(this, error)
  }

  #see(table: string): Table {
    const isKnown = table === catalogue || this.get(catalogue, table) !== undefined
    if (!isKnown) throw new SqlFailure('42P01', `relation "${table}" does not exist`)
    if (this.#isRepeatable)
      this.#snapshot ??= new Map(
        [...this.engine.tables].map(([name, rows]) => [name, new Map(rows)]),
      )
    return (this.#snapshot ?? this.engine.tables).get(table) ?? new Map()
  }
}

/** Compares texts by the bytes of their UTF-8; characters beyond U+FFFF are not supported. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
