import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { verifyChain, type VerifiedChain } from '../../state/format/verify-chain.ts'
import { openState } from '../runtime/open-state.ts'
import type { StateOutside } from '../runtime/outside.ts'
import type { Settings } from '../runtime/workspace-parts.ts'

/** Finds the hash of the newest entry; null without entries, and where the state can't be read. */
export async function findNewestHash(
  workspace: Settings,
  outside: StateOutside,
): Promise<string | null> {
  try {
    return await (await openState(workspace, outside)).store.chain.findNewest()
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    return null
  }
}

/**
 * Verifies the chained history of a workspace, which may be damaged. Needs neither the lock nor a
 * usable state.
 *
 * @param head known hash of an entry, 64 hex digits; absent: none
 * @throws EdgewiseError `usage` if the known hash can't be one, or a public key can't be used
 */
export async function verifyHistory(
  workspace: Settings,
  { head }: { head?: string | undefined },
  outside: StateOutside,
): Promise<VerifiedChain> {
  const known = head?.trim().toLowerCase() ?? null
  if (known !== null && !/^[0-9a-f]{64}$/.test(known))
    throw new EdgewiseError(
      'usage',
      'the hash after --head is not one of a history entry',
      'Pass the 64 hex digits that an apply or a notification reported.',
    )
  outside.onPhase?.({ name: 'loading-state' })
  const { store } = await openState(workspace, outside)
  const { createVerifier } = await import('./sign-history.ts')
  const verifies = createVerifier(workspace)
  return verifyChain(await store.chain.load(), { head: known, verifies })
}
