import type { Workspace } from '../manifest/workspace.ts'
import type { Change } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { createOwnedError } from '../state/owners.ts'
import type { Store } from '../state/store.ts'

/**
 * Refuses to manage domains that belong to another workspace of the same store.
 *
 * @param items items that this workspace would manage
 * @throws EdgewiseError `owned-elsewhere`
 */
export async function refuseOwnedElsewhere(
  { config, findItemPlace }: Pick<Workspace, 'config' | 'findItemPlace'>,
  store: Store,
  items: { domain: Domain; item: ItemKey }[],
): Promise<void> {
  if (items.length === 0) return
  const owners = await store.findOwners(new Set(items.map(({ domain }) => domain)))
  if (owners.size === 0) return
  const findFile = (domain: Domain) => {
    const places = items.flatMap((each) =>
      each.domain === domain ? [findItemPlace(domain, each.item)] : [],
    )
    return places.find((place) => place !== null)?.file ?? null
  }
  throw createOwnedError(owners, config.id, findFile)
}

/** Lists the changes of items that are managed from then on too. */
export function listManaged({ changes }: Plan): Change[] {
  return changes.filter(({ action }) => action !== 'release')
}
