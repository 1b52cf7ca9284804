import { didYouMean } from '../catalog/value/nearest.ts'
import type { JsonObject } from '../model/json.ts'
import type { Diagnostic } from '../model/problem.ts'
import { createDiagnostic } from './finding.ts'
import { mergeOver, type MergeFault } from './merge.ts'
import type { Layer } from './find-origin.ts'
import type { Declaration, Profile } from './parse-document.ts'
import { findPlace } from './yaml-place.ts'

/** Profiles by name. */
export type Profiles = ReadonlyMap<string, Profile>

/** The profiles by name; of several with one name the first counts. */
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
      const detail = `the name "${profile.name}" is taken. Rename one of the two profiles.`
      diagnostics.push(
        createDiagnostic(profile.document, {
          code: 'profile-duplicate',
          pointer: '/profile',
          summary: 'Two profiles have one name',
          detail,
          related,
        }),
      )
    }
  }
  return { byName, diagnostics }
}

/** Unknown names and cycles among the profiles that manifests and profiles name. */
export function findProfileProblems(declarations: Declaration[], byName: Profiles): Diagnostic[] {
  const hints = new Map<string, string>()
  const unknown = declarations.flatMap((declaration) =>
    declaration.profiles.flatMap(({ name, entry }) => {
      if (byName.has(name)) return []
      const hint =
        hints.get(name) ??
        (didYouMean(name, byName.keys()) || ' Declare it in a document of its own: "profile: …".')
      hints.set(name, hint)
      const detail = `there is no profile "${name}".${hint}`
      return [
        createDiagnostic(declaration.document, {
          code: 'profile-unknown',
          pointer: `/profiles/${entry}`,
          summary: 'An unknown profile',
          detail,
        }),
      ]
    }),
  )
  const seen = new Set<string>()
  const cycles = [...byName.values()].flatMap((profile) => {
    const found: Diagnostic[] = []
    inOrder(profile, byName, seen, (path, entry) => {
      const last = path.at(-1)
      if (last === undefined) return
      const names = path.map((step) => step.name)
      const detail = `these profiles name each other in a circle: ${[...names, names[0]].join(' → ')}. Take one of the names out.`
      found.push(
        createDiagnostic(last.document, {
          code: 'profile-cycle',
          pointer: `/profiles/${entry}`,
          summary: 'Profiles in a circle',
          detail,
        }),
      )
    })
    return found
  })
  return [...unknown, ...cycles]
}

/** What a list of profiles, over the workspace's defaults, puts under a manifest. */
export interface Stack {
  layers: Layer[]
  vars: ReadonlyMap<string, string>
  config: JsonObject
  faults: (MergeFault & { layer: Layer })[]
}

/**
 * The stack of profiles in order, each after those that it names itself. A profile that others
 * bring in counts once, at its first place; one that the manifest names is laid over what stands
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
    for (const each of inOrder(profile, byName, seen, () => {})) {
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
    faults.push(...found.map((fault) => ({ ...fault, layer })))
    const profile = layer.profile === undefined ? undefined : byName.get(layer.profile.name)
    for (const [name, value] of profile?.vars ?? []) vars.set(name, value)
  }
  return { layers, vars, config, faults }
}

/**
 * A profile after the profiles that it names, without those already seen. `cycle` gets the profiles
 * of a circle, and the entry of the last one that closes it. Without recursion: the depth is the
 * author's.
 */
function inOrder(
  start: Profile,
  byName: Profiles,
  seen: Set<string>,
  cycle: (path: Profile[], entry: number) => void,
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
      const circle = path.map((step) => step.profile)
      cycle(circle.slice(circle.indexOf(child)), reference.entry)
    } else if (child !== undefined && !seen.has(child.name)) {
      seen.add(child.name)
      open.add(child.name)
      path.push({ profile: child, next: 0 })
    }
  }
  return order
}
