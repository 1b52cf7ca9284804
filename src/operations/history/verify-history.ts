import { findEnd, type Applied } from '../../core/model/applied.ts'
import { EdgewiseError, throwDefect } from '../../core/model/edgewise-error.ts'
import { verifyChain, type VerifiedChain } from '../../state/format/verify-chain.ts'
import type { ChainStore, RolloutStore } from '../../state/store/store.ts'
import { openState } from '../runtime/open-state.ts'
import type { StateOutside, Settings } from '../runtime/parts.ts'

/** Finds the hash of the newest entry; null without entries, and where the state can't be read. */
export async function findNewestHash(
  workspace: Settings,
  outside: StateOutside,
): Promise<string | null> {
  try {
    return await (await openState(workspace, outside)).store.chain.findNewest()
  } catch (error) {
    throwDefect(error)
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
  return verifyStored(workspace, store, known, null)
}

/**
 * Verifies the stored history, and that its applies are shown as their entries have recorded them.
 *
 * @param applies whose changes are verified too; null: of all
 */
async function verifyStored(
  workspace: Settings,
  { chain }: ChainStore,
  head: string | null,
  applies: string[] | null,
): Promise<VerifiedChain> {
  const { createVerifier } = await import('./sign-history.ts')
  const verifies = createVerifier(workspace)
  const verify = async () => verifyChain(await chain.load(applies), { head, verifies })
  const verified = await verify()
  // An apply may have ended between two reads.
  return verified.findings.length === 0 ? verified : verify()
}

/** Verifies applies that are shown: what is wrong, and a function that marks those. */
export async function verifyShown(
  workspace: Settings,
  store: ChainStore & Pick<RolloutStore, 'listEnded'>,
  withChanges: string[],
) {
  const { findings, acts } = await verifyStored(workspace, store, null, withChanges)
  const faults = new Map(
    findings.flatMap(({ apply, message }) => (apply ? [[apply, message]] : [])),
  )
  const ended = await store.listEnded()
  const mark = <T extends Applied>(apply: T) => ({
    ...apply,
    fault: faults.get(apply.id),
    end: findEnd(apply, ended),
  })
  return { findings, acts, mark }
}
