import type { Workspace } from '../manifest/workspace.ts'
import { isCiJob } from '../files/cache-folder.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { isLoopback } from '../model/loopback.ts'
import type { OpenState } from '../state/open-state.ts'
import type { Outside } from './outside.ts'

/**
 * Refuses to change state that is deleted after its CI job: in a folder of the checkout, for a
 * service that outlives the job. The next job would write everything again.
 *
 * @throws EdgewiseError `local-state`
 */
export function refuseLocalState(
  { service }: Workspace['config'],
  { findFolderInCheckout }: Pick<OpenState, 'findFolderInCheckout'>,
  env: Outside['env'],
): void {
  if (!isCiJob(env)) return
  if (service.url === 'emulator' || isLoopback(new URL(service.url).hostname)) return
  const folder = findFolderInCheckout()
  if (folder === null) return
  throw new EdgewiseError(
    'local-state',
    `the state is in ${folder}, inside the checkout of a CI job (CI is set), and would ` +
      'be lost with it; nothing was changed',
    'Store it in git ("state: {store: git}"), in a database ("state: {store: postgres, url: …}") ' +
      'or in a folder outside of the checkout ("state: {store: dir, path: …}"). If this checkout ' +
      'is kept, pass --allow-local-state.',
  )
}
