import { CancelledError, EdgewiseError } from '../model/edgewise-error.ts'
import type { StateConfig } from '../model/config.ts'
import { buildCalls } from '../state/format/calls.ts'
import { migrateState, type Migrated } from '../state/migrate-state.ts'
import { loadLocked } from './load-locked.ts'
import { openState } from './open-state.ts'
import { hidePasswords, type LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'
import { loadRecentCalls, readClocks } from './recent-calls.ts'
import { withLock, type LockRequest } from './with-lock.ts'

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
  workspace: LoadedWorkspace,
  request: MigrateRequest,
  ports: Ports,
): Promise<Migrated & { location: string }> {
  const { config } = workspace
  const target = { ...workspace, config: { ...config, state: request.to } }
  const { dialogue, outside } = ports
  hidePasswords(workspace.vault, request.to, outside.env)
  return withLock(workspace, 'state migrate', 'account', request, ports, async (source) => {
    const recorded = await loadLocked(source.store, dialogue)
    // The same store would wait for its own lock.
    const opened = await openState(target, outside)
    const { location } = opened.files
    if (location === source.files.location)
      throw new EdgewiseError(
        'usage',
        `the state is in ${location} already`,
        'Pass another place with --to.',
      )
    return withLock(target, 'state migrate', 'account', request, ports, async ({ files }) => {
      files.refresh()
      await files.moveOld?.()
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
