import type { Comparable, Outside } from './runtime/parts.ts'
import { parseWorkspaceConfig } from '../manifest/workspace-file/workspace-config.ts'
import { explainVariables, listVariables } from '../manifest/workspace-file/workspace-env.ts'
import type { StateConfig } from '../core/model/config.ts'
import { storeRows } from '../core/model/stores.ts'
import { CancelledError, EdgewiseError } from '../core/model/edgewise-error.ts'
import { listAll } from '../core/model/text/words.ts'
import { hidePasswords } from './runtime/load-workspace.ts'
import { openState } from './runtime/open-state.ts'
import type { Ports } from './runtime/ports.ts'
import { loadRecentCalls, readClocks } from './runtime/recent-calls.ts'
import { refuseStopped } from './submission/account-stop.ts'
import { type LockRequest, withLock } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'
import { buildCalls } from '../state/format/calls.ts'
import { type Migrated, migrateState } from '../state/store/migrate-state.ts'

/** Another store for the state of a workspace. */
export interface MigrateRequest extends LockRequest {
  to: StateConfig
}

/**
 * Locks both stores, asks, and copies the state of a workspace to another store. The copy is
 * compared, and the state in the old store is marked as moved: commands refuse it from then on. An
 * interrupted migration can be repeated.
 *
 * @throws EdgewiseError `usage` when both stores are the same, or the new one has other state of
 * the workspace; `owned-elsewhere` when another workspace there has a domain; `declined`
 */
export async function migrate(
  workspace: Comparable,
  request: MigrateRequest,
  ports: Ports,
): Promise<Migrated & { location: string }> {
  const { config } = workspace
  const target = { ...workspace, config: { ...config, state: request.to } }
  const { dialogue, outside } = ports
  hidePasswords(workspace.vault, request.to, outside.env)
  const reason = 'state migrate'
  const purpose = { reason, selection: 'account' } as const
  return withState(workspace, purpose, request, ports, async (source, recorded) => {
    // Runners that use the new store would not know.
    await refuseStopped(source.accountStop)
    // The same store would wait for its own lock.
    const opened = await openState(target, outside)
    const { location } = opened.files
    if (location === source.files.location)
      throw new EdgewiseError(
        'usage',
        `the state is in ${location} already`,
        'Pass another place with --to.',
      )
    return withLock(target, reason, 'account', request, ports, async ({ files }) => {
      files.refresh()
      if (!(await dialogue.confirm({ kind: 'migrate', domains: recorded.size, to: location })))
        throw new CancelledError('Migration cancelled: nothing was copied')
      const { others } = await loadRecentCalls(source.store, outside)
      const migrated = await migrateState({
        from: source.files,
        to: files,
        key: {
          id: config.id,
          address: config.service.url,
          writtenAddress: config.service.writtenUrl,
        },
        account: config.service.account,
        calls: buildCalls(others, readClocks(outside)),
        domains: recorded.keys(),
        toLocation: location,
        onCopied: (done, total) => outside.onPhase?.({ name: 'saving-state', done, total }),
      })
      if (migrated.hasOtherSalt)
        dialogue.note(
          'The new store has secrets of other workspaces with another salt: recorded secrets ' +
            'count as changed there, and the next apply writes their items again.',
        )
      return { ...migrated, location }
    })
  })
}

/** A store as it is configured in `edgewise.yaml`. */
export interface ChosenStore {
  state: StateConfig
  /** The lines for `edgewise.yaml`. */
  written: string
}

/**
 * Parses a place for state, as one of the stores names it; an address may be `${env:NAME}`. It
 * follows the rules of `state` in the workspace file.
 *
 * @throws EdgewiseError `usage`
 */
export function parseStore(text: string, env: Outside['env']): ChosenStore {
  const settings = readSettings(text)
  if (settings === null) {
    const rows = storeRows.map(([, row]) => row)
    const [places, examples] = [rows.map(({ place }) => place), rows.map(({ example }) => example)]
    throw new EdgewiseError(
      'usage',
      `the place for the state is not one of ${listAll(places, 'and')}`,
      `Expected for example ${listAll(examples, 'or')}.`,
    )
  }
  const file = { path: '--to', text: JSON.stringify({ version: 1, state: settings }) }
  const parsed = parseWorkspaceConfig(file, env)
  if (parsed.config === null) {
    const details = parsed.diagnostics.map(({ detail }) => detail)
    throw new EdgewiseError('usage', `the place for the state is not valid: ${details.join(' ')}`)
  }
  const { state } = parsed.config
  if (state.store === 'postgres' && state.database === undefined)
    throw new EdgewiseError(
      'usage',
      `the place for the state is not known: ${explainVariables(listVariables(text), env)}`,
      'Set it to the address of the database.',
    )
  const lines = Object.entries(settings).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  return { state, written: `state: {${lines.join(', ')}}` }
}

function readSettings(text: string): Record<string, string> | null {
  for (const [store, { readPlace }] of storeRows) {
    const settings = readPlace(text)
    if (settings !== null) return { store, ...settings }
  }
  return null
}
