import type { Domain } from '../../core/model/item.ts'
import { formatPointerStep } from '../../core/model/json.ts'
import { findOrigin, type Layer } from '../workspace-file/find-origin.ts'
import type { Given, GivenSource } from './given.ts'
import { Assembly, type StackLookup } from '../manifests/assembly.ts'
import { ProblemQuota } from '../manifests/finding.ts'
import { mergeOver } from '../manifests/merge.ts'
import { toLayer } from '../manifests/declared-places.ts'
import type { ConfigContext } from '../manifests/parse-config.ts'
import { parseDocument } from '../manifests/parse-document.ts'
import { ProfileProblems } from '../manifests/profile-problems.ts'
import { buildStack, findProfileProblems, type Profiles } from '../manifests/profiles.ts'

/**
 * Creates the parser of given configurations: references, merging and checks are those of a
 * manifest with the same keys.
 */
export function createGivenParser(
  rules: ConfigContext,
  byName: Profiles,
  defaults: Layer,
  findStack: StackLookup,
): (given: GivenSource, domain: Domain) => Given {
  const bareStack = buildStack([], byName, { ...defaults, config: {} })
  return ({ document, base, value, bare = false }, domain) => {
    const parsed = parseDocument({ ...document, value: { config: {}, ...value, domain } })
    const manifest = parsed.declaration
    if (manifest?.kind !== 'manifest')
      return { items: new Map(), raw: {}, findings: parsed.findings, findSource: () => null }
    const stack = bare ? bareStack : findStack(manifest.profiles)
    const problems = new ProfileProblems([])
    const quota = new ProblemQuota()
    const assembly = new Assembly({ rules, problems, quota, findStack: () => stack })
    assembly.add(manifest)
    const layers = [...stack.layers, toLayer(manifest)]
    const unknown = findProfileProblems([manifest], byName)
    const findings = [...parsed.findings, ...unknown, ...assembly.end()]
    return {
      items: assembly.desired.get(domain) ?? new Map(),
      raw: mergeOver(stack.config, manifest.config, []),
      findings: findings.map((each) => ({ ...each, pointer: base + (each.pointer ?? '') })),
      findSource: (item, pointer) => {
        const origin = findOrigin(layers, formatPointerStep(item) + pointer)
        if (origin === null || origin.pointer === '') return null
        const { layer } = origin
        const isOwn = layer.document === manifest.document
        const written = layer.base + origin.pointer
        const pointerOfFile = isOwn ? base + written : written
        const user = isOwn ? null : document.file.path
        return { document: layer.document, pointer: pointerOfFile, manifest: user }
      },
    }
  }
}
