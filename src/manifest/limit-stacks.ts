import { inputLimits } from '../model/input-limits.ts'
import type { Diagnostic } from '../model/problem.ts'
import { createDiagnostic } from './finding.ts'
import type { Declaration, KnownManifest, Manifest, Profile } from './parse-document.ts'
import type { ProblemQuota } from './problem-quota.ts'
import { listIncluded, type Profiles } from './profiles.ts'

/** Maximum number of profiles that one list includes: `$append` copies a list for each of them. */
const maxPerList = 5000

/**
 * Refuses lists of profiles that include too many: each profile may include all before it, and each
 * manifest have another list. Such a list is emptied, so that nothing follows it.
 */
export function limitStacks(
  declarations: (Manifest | Profile | KnownManifest)[],
  profiles: Profiles,
  quota: ProblemQuota,
): { diagnostics: Diagnostic[]; emptied: ReadonlySet<unknown> } {
  const emptied = new Set<unknown>()
  const faults = new Map<Declaration['profiles'], string | null>()
  const totals = { manifest: 0, profile: 0 }
  const measure = (declaration: Pick<Declaration, 'profiles'>, kind: keyof typeof totals) => {
    if (totals[kind] > inputLimits.layers)
      return (
        `expected the different lists of profiles of all ${kind}s to include at most ` +
        `${inputLimits.layers} profiles, got more. Include fewer profiles, or use fewer lists.`
      )
    const included = listIncluded(declaration, profiles)
    for (const each of included) totals[kind] += 1 + each.profiles.length
    return kind === 'profile' || included.length <= maxPerList
      ? null
      : `expected at most ${maxPerList} profiles below a manifest, got ${included.length}`
  }
  const diagnostics = declarations.flatMap((declaration) => {
    const { profiles: list, document } = declaration
    const kind = declaration.kind === 'profile' ? 'profile' : 'manifest'
    const known = list.length === 0 ? null : faults.get(list)
    const detail = known === undefined ? measure(declaration, kind) : known
    faults.set(list, detail)
    if (detail === null) return []
    declaration.profiles = []
    emptied.add(declaration)
    const summary = 'Too many profiles'
    const finding = { code: `${kind}-invalid`, pointer: '/profiles', summary, detail } as const
    return quota
      .take(document, [finding])
      .map((each) => createDiagnostic(document, { ...each, part: 'key' }))
  })
  return { diagnostics, emptied }
}
