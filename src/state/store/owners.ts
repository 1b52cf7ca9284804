import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { parseAddress } from '../format/address-file.ts'
import { buildStatePaths, buildStatePathsIn, type StatePaths } from '../format/state-paths.ts'
import { loadBatches } from './load-journal.ts'
import type { SharedFiles } from './state-files.ts'
import type { StateKey } from './store.ts'

/**
 * Finds which of these domains belong to another workspace of the store at the same address, with
 * its id. A domain belongs to the workspace that has state of it, or an unfinished apply that may
 * write it.
 */
export async function findOwners(
  files: SharedFiles,
  key: StateKey,
  domains: Iterable<Domain>,
): Promise<Map<Domain, string>> {
  const owners = new Map<Domain, string>()
  const names = [...domains]
  const { home } = buildStatePaths(key)
  for (const folder of await files.listTopFolders()) {
    const paths = buildStatePathsIn(folder, key.address)
    if (paths.home === home) continue
    const recorded = new Set(await files.listPaths(paths.domains))
    const intended = await listIntended(files, paths)
    const owned = names.filter(
      (domain) => recorded.has(paths.domain(domain)) || intended.has(domain),
    )
    if (owned.length === 0) continue
    const texts = [...(await files.load(paths.addresses)).values()]
    const id = texts.map((text) => parseAddress(text)?.id).find((name) => name !== undefined)
    for (const domain of owned) owners.set(domain, id ?? folder)
  }
  return owners
}

/**
 * Refuses domains that belong to another workspace.
 *
 * @throws EdgewiseError `owned-elsewhere`
 */
export async function refuseOwned(
  files: SharedFiles,
  key: StateKey,
  domains: Iterable<Domain>,
): Promise<void> {
  const owners = await findOwners(files, key, domains)
  if (owners.size > 0) throw createOwnedError(owners, key.id)
}

/**
 * Creates the error for domains that belong to other workspaces.
 *
 * @param id of the workspace that would manage them
 * @param findFile finds the manifest of a domain
 */
export function createOwnedError(
  owners: ReadonlyMap<Domain, string>,
  id: string,
  findFile: (domain: Domain) => string | null = () => null,
): EdgewiseError {
  const [[domain, owner] = ['', '']] = owners
  const file = findFile(domain)
  const where = file === null ? '' : ` (${file})`
  const more = owners.size === 1 ? '' : `, and ${owners.size - 1} more to other workspaces`
  return new EdgewiseError(
    'owned-elsewhere',
    `${domain}${where} belongs to the workspace "${owner}", which has state of it in the same ` +
      `store${more}; nothing was recorded`,
    `Remove it from the manifests here, or hand it over: run "edgewise state move ${domain} ` +
      `--to ${id}" in the workspace "${owner}".`,
  )
}

/** Returns whether a workspace has, or had, state at an address. */
export async function knowsWorkspace(files: SharedFiles, key: StateKey): Promise<boolean> {
  const paths = buildStatePaths(key)
  if ((await files.listPaths(paths.addresses)).includes(paths.address)) return true
  return (await files.listPaths(paths.home)).length > 0
}

/** Lists the other addresses, as they are stored, at which the same id has state. */
export async function listOtherAddresses(
  files: SharedFiles,
  { addresses, address: own }: StatePaths,
): Promise<string[]> {
  const found = [...(await files.load(addresses))]
  return found.flatMap(([path, text]) =>
    path === own || path.endsWith('.moved.json') ? [] : (parseAddress(text)?.address ?? []),
  )
}

/** Lists the domains that unfinished applies may write. */
export async function listIntended(files: SharedFiles, paths: StatePaths): Promise<Set<Domain>> {
  const domains = new Set<Domain>()
  for (const marker of await files.listPaths(paths.open)) {
    const apply = marker.slice(`${paths.open}/`.length).replace(/\.json$/, '')
    for (const { intents } of await loadBatches(files, paths, apply))
      for (const written of intents.values()) for (const name of written.keys()) domains.add(name)
  }
  return domains
}

/**
 * Refuses state that "state migrate" has copied to another store.
 *
 * @throws EdgewiseError `usage`
 */
export async function refuseMigrated(files: SharedFiles, key: StateKey): Promise<void> {
  const { addresses, moved } = buildStatePaths(key)
  if (!(await files.listPaths(addresses)).includes(moved)) return
  const { movedTo = 'another place' } =
    parseAddress((await files.load(addresses)).get(moved) ?? '') ?? {}
  throw new EdgewiseError(
    'usage',
    `the state of "${key.id}" was migrated to ${movedTo}`,
    `Configure that place under "state" in edgewise.yaml. To continue with the state here, which ` +
      `is as old as the migration, remove ${files.describePath(moved)}.`,
  )
}
