import type { Row } from '../../../src/state/postgres/database.ts'
import type { Transaction } from './engine.ts'

/** Runs a statement in a transaction, with values for `$1`, `$2` … */
export type Statement = (transaction: Transaction, values: unknown[]) => Row[] | Promise<Row[]>
