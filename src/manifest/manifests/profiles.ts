import { didYouMean } from '../../core/catalog/value/nearest.ts'
import { append } from '../../core/model/lists.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { createDiagnostic, type ProblemQuota } from './finding.ts'
import { mergeOver, type MergeFault } from './merge.ts'
import type { Layer } from '../workspace-file/find-origin.ts'
import type { Declaration, KnownManifest, Profile, Manifest } from './parse-document.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import { inputLimits } from '../../core/model/input-limits.ts'

/** Profiles by name. */
export type Profiles = ReadonlyMap<string, Profile>

/** Indexes profiles by name; the first of several with the same name wins. */
export function indexProfiles(profiles: Profile[]): {
  byName: Profiles
  diagnostics: Diagnostic[]
} {
  const byName = new Map<string, Profile>()
  const diagnostics: Diagnostic[] = []
  for (const profile of profiles) {
    const first = byName.get(profile.name)
    if (first === undefined) {
      byName.set(profile.name, profile)
    } else {
      const related = [{ ...findPlace(first.document, '/profile'), message: 'also declared here' }]
      const detail = `the name "${profile.name}" is already used. Rename one of the two profiles.`
      diagnostics.push(
        createDiagnostic(profile.document, {
          code: 'profile-duplicate',
          pointer: '/profile',
          summary: 'Duplicate profile',
          detail,
          related,
        }),
      )
    }
  }
  return { byName, diagnostics }
}

/** Finds unknown names and cycles in the profile lists of manifests and profiles. */
export function findProfileProblems(
  declarations: (Declaration | KnownManifest)[],
  byName: Profiles,
): Diagnostic[] {
  const hints = new Map<string, string>()
  const unknown = declarations.flatMap((declaration) =>
    declaration.profiles.flatMap(({ name, entry }) => {
      if (byName.has(name)) return []
      const hint =
        hints.get(name) ??
        (didYouMean(name, byName.keys()) || ' Declare it in its own document: "profile: …".')
      hints.set(name, hint)
      const detail = `there is no profile "${name}".${hint}`
      return [
        createDiagnostic(declaration.document, {
          code: 'profile-unknown',
          pointer: `/profiles/${entry}`,
          summary: 'Unknown profile',
          detail,
        }),
      ]
    }),
  )
  const seen = new Set<string>()
  const cycles = [...byName.values()].flatMap((profile) => {
    const found: Diagnostic[] = []
    orderProfiles(profile, byName, seen, (path, entry) => {
      const last = path.at(-1)
      if (last === undefined) return
      const names = path.map((step) => step.name)
      const detail =
        `these profiles include each other in a cycle: ${[...names, names[0]].join(' → ')}. ` +
        'Remove one of the names.'
      found.push(
        createDiagnostic(last.document, {
          code: 'profile-cycle',
          pointer: `/profiles/${entry}`,
          summary: 'Cycle of profiles',
          detail,
        }),
      )
    })
    return found
  })
  return [...unknown, ...cycles]
}

/** Lists the profiles that a document uses, directly or through others. */
export function listIncluded(
  { profiles }: Pick<Declaration, 'profiles'>,
  byName: Profiles,
): Profile[] {
  const seen = new Set<string>()
  return profiles.flatMap(({ name }) => {
    const profile = byName.get(name)
    return profile === undefined ? [] : orderProfiles(profile, byName, seen, () => {})
  })
}

/** The merged profiles below a manifest, on top of the workspace's defaults. */
export interface Stack {
  layers: Layer[]
  /** The documents of the layers, each once. */
  documents: ReadonlySet<YamlDocument>
  vars: ReadonlyMap<string, string>
  config: JsonObject
  faults: (MergeFault & { layer: Layer })[]
}

/**
 * Builds the stack of profiles in order, each after those that it includes. A profile that others
 * include counts once, at its first place; one that the manifest lists is merged over everything
 * before it in any case.
 */
export function buildStack(
  named: Declaration['profiles'],
  byName: Profiles,
  defaults: Layer,
): Stack {
  const layers = [defaults]
  const seen = new Set<string>()
  for (const { name, entry } of named) {
    const profile = byName.get(name)
    if (profile === undefined) continue
    seen.delete(name)
    for (const each of orderProfiles(profile, byName, seen, () => {})) {
      layers.push({
        config: each.config,
        document: each.document,
        base: '/config',
        profile: { name: each.name, entry },
      })
    }
  }
  const faults: Stack['faults'] = []
  let config: JsonObject = {}
  const vars = new Map<string, string>()
  for (const layer of layers) {
    const found: MergeFault[] = []
    config = mergeOver(config, layer.config, found)
    append(
      faults,
      found.map((fault) => ({ ...fault, layer })),
    )
    const profile = layer.profile === undefined ? undefined : byName.get(layer.profile.name)
    for (const [name, value] of profile?.vars ?? []) vars.set(name, value)
  }
  const documents = new Set(layers.map(({ document }) => document))
  return { layers, documents, vars, config, faults }
}

/**
 * Lists a profile after the profiles that it includes, without those already seen. Iterative, since
 * the depth is not bounded.
 *
 * @param onCycle gets the profiles of a cycle, and the entry of the last one that closes it
 */
function orderProfiles(
  start: Profile,
  byName: Profiles,
  seen: Set<string>,
  onCycle: (path: Profile[], entry: number) => void,
): Profile[] {
  if (seen.has(start.name)) return []
  const order: Profile[] = []
  const path = [{ profile: start, next: 0 }]
  const open = new Set([start.name])
  seen.add(start.name)
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const reference = top.profile.profiles[top.next++]
    const child = reference === undefined ? undefined : byName.get(reference.name)
    if (reference === undefined) {
      order.push(top.profile)
      open.delete(top.profile.name)
      path.pop()
    } else if (child !== undefined && open.has(child.name)) {
      const cycle = path.map((step) => step.profile)
      onCycle(cycle.slice(cycle.indexOf(child)), reference.entry)
    } else if (child !== undefined && !seen.has(child.name)) {
      seen.add(child.name)
      open.add(child.name)
      path.push({ profile: child, next: 0 })
    }
  }
  return order
}

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
