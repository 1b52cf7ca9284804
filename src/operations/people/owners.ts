import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import { join, relative, sep } from 'node:path'
import type { Domain } from '../../core/model/item.ts'
import { parseAddress } from '../../core/model/people/identity.ts'
import type { RoleRule } from '../../core/model/people/roles.ts'
import { isFault, loadBounded } from '../../files/load-bounded.ts'
import { resolveLinks } from '../../files/is-inside.ts'
import { parseCodeOwners } from '../../manifest/owners/code-owners.ts'
import { codeOwnersFiles } from '../../manifest/workspace-file/file-kinds.ts'
import type { Rules } from './decide.ts'
import { findRepository } from '../../state/git/find-repository.ts'

/** Largest CODEOWNERS, bytes: GitHub reads no larger one. */
const maxBytes = 3 * 1024 ** 2

/**
 * Creates a lookup of the owners of a domain: those that its manifest names, or else those of its
 * file in `CODEOWNERS` of the repository, of which `@org/team` is the group `org/team`.
 */
export function createOwnerLookup(workspace: Workspace): (domain: Domain) => string[] {
  const { root, findDomainPlace, findDeclaredOwners } = workspace
  const top = findRepository(root)?.workTree ?? root
  const findCodeOwners = loadCodeOwners(top)
  const byFile = new Map<string, string[]>()
  const folder = relative(top, resolveLinks(root)).split(sep).join('/')
  const findByFile = (file: string): string[] => {
    const known = byFile.get(file)
    if (known !== undefined || findCodeOwners === null) return known ?? []
    const owners = findCodeOwners(folder === '' ? file : `${folder}/${file}`)
    const names = owners.map((owner) => owner.replace(/^@/, ''))
    byFile.set(file, names)
    return names
  }
  return (domain) => {
    const declared = findDeclaredOwners(domain)
    if (declared.length > 0) return declared
    const file = findCodeOwners === null ? undefined : findDomainPlace(domain)?.file
    return file === undefined ? [] : findByFile(file)
  }
}

function loadCodeOwners(top: string): ReturnType<typeof parseCodeOwners> | null {
  for (const path of codeOwnersFiles) {
    const bytes = loadBounded(join(top, path), maxBytes, 'refuse')
    if (!isFault(bytes)) return parseCodeOwners(bytes.toString('utf8'))
  }
  return null
}

/** Lists the rules of a workspace. Owners have a role where others have: else the token decides. */
export function listRules(workspace: Workspace): Rules {
  const { roles, rollout } = workspace.config
  const owned = roles.length === 0 ? [] : listOwnerRoles(workspace)
  return { roles: [...roles, ...owned], needs: rollout.approvers }
}

/** Lists the roles that the owners of domains have: each is an approver of what it owns. */
export function listOwnerRoles(workspace: Workspace): RoleRule[] {
  const find = createOwnerLookup(workspace)
  const byOwners = new Map<string, { owners: string[]; domains: Domain[] }>()
  for (const domain of workspace.desired.keys()) {
    const owners = find(domain)
    if (owners.length === 0) continue
    const key = JSON.stringify(owners)
    const own = byOwners.get(key) ?? { owners, domains: [] }
    own.domains.push(domain)
    byOwners.set(key, own)
  }
  return Array.from(byOwners.values(), ({ owners, domains }) => ({
    role: 'approver',
    // Only an address is a user: a name that a machine chooses must not make it an owner.
    users: owners.flatMap((owner) => parseAddress(owner) ?? []),
    groups: owners.filter((owner) => parseAddress(owner) === null),
    domains: [],
    named: domains,
  }))
}
