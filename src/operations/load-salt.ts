import { createHash } from 'node:crypto'
import type { Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'

/**
 * Loads the salt of the fingerprints of secrets. Without one, a random salt is used, and stored
 * with the first recording of secrets. A workspace without secrets stores none: fingerprints that
 * replace foreign values are then compared with nothing.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadSalt(
  { config, vault }: Pick<LoadedWorkspace, 'config' | 'vault'>,
  store: Store,
  outside: Outside,
): Promise<void> {
  const usesSecrets = Object.keys(config.secrets).length > 0 || config.allowLiteralSecrets
  const stored = usesSecrets ? await store.loadSalt() : null
  const text = stored ?? drawSalt(outside)
  const isStored = stored !== null || !usesSecrets
  vault.useSalt({ text, isStored, keep: () => store.keepSalt(text) })
}

/** Draws a salt from two random ids. */
function drawSalt(outside: Outside): string {
  const ids = `${outside.newId()} ${outside.newId()}`
  return createHash('sha256').update(ids).digest('hex').slice(0, 32)
}
