import type { Settings, Desired, Secrets } from './workspace-parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { restrictPool } from '../../state/postgres/reading-pool.ts'
import type { RolloutStore, RecordedState, SaltStore } from '../../state/store/store.ts'
import { loadState } from './open-state.ts'
import type { StateOutside } from './outside.ts'

/** Maximum time of a connection attempt and of a statement, ms. */
const statementMs = 5000
/** Maximum time of a load, ms. */
const maxMs = 10_000

/** A state as it was at one time. */
export interface KnownState extends Pick<RolloutStore, 'listRollouts'> {
  recorded: RecordedState
  /** The salt of its secrets, which each load of the workspace needs. */
  salt: SaltStore
}

/**
 * Loads the state of a workspace that has it in a database, without a write and without another
 * attempt; its connections are closed then. Null, without a connection, for state elsewhere.
 *
 * @throws EdgewiseError as `loadState`, and `record-unreachable` after 10 seconds
 */
export async function loadDatabaseState(
  workspace: Settings & Desired & Secrets,
  outside: StateOutside,
): Promise<KnownState | null> {
  if (workspace.config.state.store !== 'postgres') return null
  const { createPool } = await import('../../state/postgres/create-pool.ts')
  const pools: ReturnType<typeof createPool>[] = []
  const own: StateOutside = {
    ...outside,
    databasePatienceMs: 0,
    createPool: (config) =>
      restrictPool(async () => {
        const pool = createPool(config, 1, statementMs)
        pools.push(pool)
        return pool
      }, refuse),
  }
  const late = new AbortController()
  try {
    return await Promise.race([load(workspace, own), waitLong(outside, late.signal)])
  } finally {
    late.abort()
    // A connection in use ends with its statement, which is limited.
    for (const pool of pools) void pool.end()
  }
}

async function load(
  workspace: Settings & Desired & Secrets,
  outside: StateOutside,
): Promise<KnownState> {
  const { store, recorded } = await loadState(workspace, outside, true)
  const [rollouts, text] = [await store.listRollouts(), await store.loadSalt()]
  const keepSalt = () => {
    throw refuse('a salt')
  }
  return {
    recorded,
    listRollouts: async () => rollouts,
    salt: { loadSalt: async () => text, keepSalt },
  }
}

async function waitLong({ clock }: StateOutside, signal: AbortSignal): Promise<never> {
  await clock.sleep(maxMs, signal)
  const hint = 'Check that the database runs and can be reached.'
  throw new EdgewiseError('record-unreachable', 'the database has not answered in 10 s', hint)
}

function refuse(what: string): EdgewiseError {
  return new EdgewiseError('unavailable', `the state is only read; ${what} was refused`)
}
