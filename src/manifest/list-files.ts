import type { Domain } from '../model/item.ts'
import type { Manifest, Profile } from './parse-document.ts'
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

/** Lists files with what they declare; a file without a valid document declares nothing. */
export function listFiles(
  paths: string[],
  declarations: (Manifest | Profile)[],
  profiles: Profiles,
): WorkspaceFile[] {
  const files = new Map(
    paths.map((path) => [
      path,
      { path, manifests: 0, profiles: 0, domains: new Array<Domain>(), uses: new Set<string>() },
    ]),
  )
  const seen = new Map(paths.map((path) => [path, new Set<string>()]))
  for (const declaration of declarations) {
    const file = files.get(declaration.document.file.path)
    if (file === undefined) continue
    if (declaration.kind === 'profile') file.profiles++
    else {
      file.manifests++
      for (const { domain } of declaration.domains) file.domains.push(domain)
    }
    for (const { document } of listIncluded(declaration, profiles, seen.get(file.path)))
      file.uses.add(document.file.path)
  }
  return [...files.values()]
}
