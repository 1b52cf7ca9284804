import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupBy } from '../../core/model/lists.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { Change } from '../../core/model/change.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { createOwnedError } from '../../state/store/owners.ts'
import type { StateReader } from '../../state/store/store.ts'

/**
 * Refuses to manage domains that belong to another workspace of the same store.
 *
 * @param items items that this workspace would manage
 * @throws EdgewiseError `owned-elsewhere`
 */
export async function refuseOwnedElsewhere(
  { config, findItemPlace }: Pick<Workspace, 'config' | 'findItemPlace'>,
  store: StateReader,
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

/** Describes for each other workspace which of the desired domains belong to it. */
export function describeOwners(owners: ReadonlyMap<Domain, string>): string[] {
  return [...groupBy(owners, ([, owner]) => owner)].map(([owner, owned]) => {
    const domains = listSome(owned.map(([domain]) => domain))
    const [belong, them] = owned.length === 1 ? ['belongs', 'it'] : ['belong', 'them']
    return `${domains} ${belong} to the workspace "${owner}"; plan and apply refuse ${them} here.`
  })
}

/**
 * Refuses to roll back domains that belong to another workspace now.
 *
 * @throws EdgewiseError `owned-elsewhere`
 */
export async function refuseRollbackElsewhere(
  store: StateReader,
  { changes }: Plan,
): Promise<void> {
  const domains = new Set(changes.map(({ domain }) => domain))
  const owners = await store.findOwners(domains)
  const [first] = owners
  if (first === undefined) return
  const [domain, owner] = first
  const more = owners.size === 1 ? '' : `, and ${owners.size - 1} more to other workspaces`
  throw new EdgewiseError(
    'owned-elsewhere',
    `${domain} belongs to the workspace "${owner}" now${more}; nothing was rolled back`,
    domains.size > owners.size
      ? 'Roll back the other domains: name them with --target.'
      : `Change it in the workspace "${owner}".`,
  )
}

/** Lists the changes of items that are managed from then on too. */
export function listManaged({ changes }: Plan): Change[] {
  return changes.filter(({ action }) => action !== 'release')
}
