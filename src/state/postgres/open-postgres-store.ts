import {
  buildBudgetPath,
  buildLockPath,
  buildStatePaths,
  buildStopPath,
} from '../format/state-paths.ts'
import { openAccountStop } from '../store/account-stop.ts'
import { FileStore } from '../store/file-store.ts'
import type { CallStore } from '../store/store.ts'
import type { OpenState, StateEnvironment, StateLocation } from '../store/store-opener.ts'
import { createLeadership } from './leadership.ts'
import { openPostgresLedger } from './postgres-calls.ts'
import { createPostgresFiles } from './postgres-files.ts'
import { PostgresLocks } from './postgres-locks.ts'
import { createRowRegister } from './row-register.ts'

/**
 * Opens the state of a workspace in a PostgreSQL database; its first transaction creates missing
 * tables.
 */
export async function openInPostgres(
  { account, state, ...key }: StateLocation,
  { openDatabase }: Pick<StateEnvironment, 'openDatabase'>,
): Promise<OpenState> {
  if (state.database === undefined || openDatabase === undefined)
    throw new TypeError('expected a database, and a way to open it')
  const database = openDatabase(state.database)
  const locks = new PostgresLocks(database, buildLockPath(key.address, account))
  const files = createPostgresFiles(database, locks)
  // Several applies may run at the same time: no calls belong to the store alone.
  const calls: CallStore = {
    loadCalls: async () => ({ calls: [], incomplete: false }),
    saveCalls: async () => undefined,
    openCallLedger: (_apply, _previous, here) =>
      openPostgresLedger(database, buildBudgetPath(key.address, account), here),
  }
  return {
    store: Object.assign(new FileStore(files, key, account), calls),
    files,
    locks,
    accountStop: openAccountStop(
      createRowRegister(database, `${buildStopPath(key.address, account)}.json`),
      'postgres',
    ),
    leadership: createLeadership(database, buildStatePaths(key).home),
    findUser: async () => {
      const [row] = await database.read((sql) => sql('select session_user as name'))
      return String(row?.['name'] ?? '')
    },
    notes: [],
    findFolderInCheckout: () => null,
  }
}
