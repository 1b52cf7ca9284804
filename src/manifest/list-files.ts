import type { Domain } from '../model/item.ts'
import type { KnownManifest, Manifest, Profile } from './parse-document.ts'
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

/** Lists files with what they declare; a file without a valid document declares nothing. */
export function listFiles(
  paths: string[],
  declarations: (Manifest | KnownManifest | Profile)[],
  profiles: Profiles,
): WorkspaceFile[] {
  const files = new Map(
    paths.map((path): [string, WorkspaceFile] => [
      path,
      { path, manifests: 0, profiles: 0, domains: [], uses: none },
    ]),
  )
  // Most manifests name the same profiles, and most files have one manifest.
  const included = new Map<string, ReadonlySet<string>>()
  for (const declaration of declarations) {
    const file = files.get(declaration.document.file.path)
    if (file === undefined) continue
    if (declaration.kind === 'profile') file.profiles++
    else {
      file.manifests++
      for (const { domain } of declaration.domains) file.domains.push(domain)
    }
    const key = JSON.stringify(declaration.profiles)
    const uses = included.get(key) ?? listProfileFiles(declaration, profiles)
    included.set(key, uses)
    file.uses = file.uses.size === 0 ? uses : new Set([...file.uses, ...uses])
  }
  return [...files.values()]
}

function listProfileFiles(declaration: Pick<Profile, 'profiles'>, profiles: Profiles): Set<string> {
  return new Set(listIncluded(declaration, profiles).map(({ document }) => document.file.path))
}
