import type { StateConfig } from '../model/config.ts'
import type { Json } from '../model/json.ts'
import { findAddressFault } from './database-address.ts'
import type { Finding } from './finding.ts'
import { listVariables } from './workspace-env.ts'
import { createWorkspaceFinding as createFinding } from './workspace-shape.ts'

/** The keys of each store. */
const keysOfStores = {
  git: ['branch', 'remote'],
  dir: ['path'],
  postgres: ['url', 'schema'],
}

/**
 * Checks the location of the state.
 *
 * @param find returns the value that the file itself has at a pointer
 */
export function checkState(
  state: StateConfig,
  find: (pointer: string) => Json | undefined,
): Finding[] {
  const foreign = Object.entries(keysOfStores).flatMap(([store, keys]) =>
    store === state.store ? [] : keys.map((key) => ({ store, key, pointer: `/state/${key}` })),
  )
  const found = foreign
    .filter(({ pointer }) => find(pointer) !== undefined)
    .map(({ store, key, pointer }) =>
      createFinding(
        pointer,
        `"${key}" is valid only with "store: ${store}", but the store is ${state.store}. ` +
          'Remove it.',
        'key',
      ),
    )
  return state.store === 'postgres' ? [...found, ...checkUrl(state, find('/state/url'))] : found
}

function checkUrl({ database }: StateConfig, written: Json | undefined): Finding[] {
  const text = typeof written === 'string' ? written : ''
  if (text === '')
    return [
      createFinding(
        written === undefined ? '/state' : '/state/url',
        'the store postgres needs "url", the address of the database. Write ' +
          '"url: ${env:DATABASE_URL}" and set that variable.',
      ),
    ]
  if (database === undefined && listVariables(text).length > 0) return []
  const fault = findAddressFault(database?.url ?? '', text)
  return fault === null ? [] : [createFinding('/state/url', fault)]
}
