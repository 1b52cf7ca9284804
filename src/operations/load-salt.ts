import { createHash } from 'node:crypto'
import type { Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'

/**
 * Loads the salt of the fingerprints of secrets. Without one, a random salt is used, and stored
 * with the first recording of secrets. A workspace without secrets stores none: fingerprints that
 * replace foreign values are then compared with nothing.
 *
 * @param addsSecrets whether the command may add the first secrets of the workspace
 * @throws EdgewiseError `record-damaged`
 */
export async function loadSalt(
  { config, vault }: Pick<LoadedWorkspace, 'config' | 'vault'>,
  store: Store,
  outside: Outside,
  addsSecrets = false,
): Promise<void> {
  const needsSalt = addsSecrets || usesSecrets(config)
  const stored = needsSalt ? await store.loadSalt() : null
  const text = stored ?? drawSalt(outside)
  const isStored = stored !== null || !needsSalt
  vault.useSalt({ text, isStored, keep: () => store.keepSalt(text) })
}

/** Tests whether manifests may have secrets. */
export function usesSecrets({ secrets, allowLiteralSecrets }: LoadedWorkspace['config']): boolean {
  return Object.keys(secrets).length > 0 || allowLiteralSecrets
}

/** Draws a salt from two random ids. */
function drawSalt(outside: Outside): string {
  const ids = `${outside.newId()} ${outside.newId()}`
  return createHash('sha256').update(ids).digest('hex').slice(0, 32)
}
