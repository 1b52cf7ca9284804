import { getOrAdd } from '../../core/model/lists.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Declaration, KnownManifest, Manifest, Profile } from './parse-document.ts'
import { listIncluded, type Profiles } from './profiles.ts'

/** A file of the workspace, and what it declares. */
export interface WorkspaceFile {
  /** Relative to the workspace's root, with `/`. */
  path: string
  manifests: number
  profiles: number
  domains: Domain[]
  /** Files with the profiles that its documents use, directly or through others. */
  uses: ReadonlySet<string>
}

const none: ReadonlySet<string> = new Set()

/** Creates a file that declares nothing, as one of tests. */
export function createFile(path: string): WorkspaceFile {
  return { path, manifests: 0, profiles: 0, domains: [], uses: none }
}

/** Lists files with what they declare; a file without a valid document declares nothing. */
export function listFiles(
  paths: string[],
  declarations: (Manifest | KnownManifest | Profile)[],
  profiles: Profiles,
): WorkspaceFile[] {
  const files = new Map(paths.map((path) => [path, createFile(path)]))
  // Most manifests share their list of profiles, and most files have one manifest.
  const included = new Map<Declaration['profiles'], ReadonlySet<string>>()
  for (const declaration of declarations) {
    const file = files.get(declaration.document.file.path)
    if (file === undefined) continue
    if (declaration.kind === 'profile') file.profiles++
    else {
      file.manifests++
      for (const { domain } of declaration.domains) file.domains.push(domain)
    }
    const uses = getOrAdd(included, declaration.profiles, () =>
      listProfileFiles(declaration, profiles),
    )
    file.uses = file.uses.size === 0 ? uses : new Set([...file.uses, ...uses])
  }
  return [...files.values()]
}

function listProfileFiles(declaration: Pick<Profile, 'profiles'>, profiles: Profiles): Set<string> {
  return new Set(listIncluded(declaration, profiles).map(({ document }) => document.file.path))
}
