import { append, getOrAdd } from '../../core/model/lists.ts'
import { formatPointerStep, resolvePointer } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { pluralize } from '../../core/model/text/words.ts'
import { findOpenReferences } from './check-profile.ts'
import { createDiagnostic, type Finding, type ProblemQuota } from './finding.ts'
import { findOrigin, type Layer, type Origin } from '../workspace-file/find-origin.ts'
import { findSite, type Use } from './manifest-diagnostics.ts'
import type { ConfigFinding } from './parse-config.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'

/** Maximum number of manifests that the diagnostic of a profile names. */
const maxRelated = 10

interface Group {
  layer: Layer
  finding: Finding
  uses: Use[]
  domains: number
  /** Whether it is the profile's only if every domain that uses the profile has it. */
  depends: boolean
}

/**
 * Collects the problems of profiles and defaults over the manifests that use them, each once. A
 * problem is the profile's if the profile has it alone, or if no other layer has a part of its
 * item.
 */
export class ProfileProblems {
  readonly #alone: { layer: Layer; findings: ConfigFinding[] }[]
  readonly #known = new Map<YamlDocument, Set<string>>()
  readonly #groups = new Map<YamlDocument, Map<string, Group>>()

  /** @param alone what each profile has alone; pointers are within the layer's config */
  constructor(alone: { layer: Layer; findings: ConfigFinding[] }[]) {
    this.#alone = alone
    for (const { layer, findings } of alone)
      this.#known.set(layer.document, new Set(findings.map(formatKey)))
  }

  /** Adds a problem of a manifest; false if it is not, and can't be, that of a profile. */
  add(use: Use, origin: Origin | null = findOrigin(use.layers, use.finding.pointer)): boolean {
    const { finding, layers, domains } = use
    if (origin === null || origin.layer === layers.at(-1)) return false
    const { layer, pointer } = origin
    const own = { ...finding, pointer }
    const isKnown = this.#known.get(layer.document)?.has(formatKey(own)) === true
    const items = finding.other === undefined ? [finding.item] : [finding.item, finding.other]
    const isSole = items.every((item) => {
      const sources = layers.filter(({ config }) => Object.hasOwn(config, item))
      return sources.length === 1 && sources[0] === layer
    })
    if (!isKnown && !isSole) return false
    if (domains.length === 0) return isKnown
    const depends =
      !isKnown &&
      (finding.missing === true ||
        findOpenReferences(resolvePointer(layer.config, pointer) ?? null).length > 0)
    const groups = getOrAdd(this.#groups, layer.document, () => new Map<string, Group>())
    const key = JSON.stringify([formatKey(own), finding.detail])
    const create = (): Group => ({ layer, finding: own, uses: [], domains: 0, depends })
    const group = getOrAdd(groups, key, create)
    group.domains += domains.length
    // Only a problem that may go back to its manifests needs all of them.
    if (depends || group.uses.length < maxRelated) group.uses.push(use)
    return true
  }

  /**
   * Creates the diagnostics of the profiles, and returns the problems that are those of manifests.
   *
   * @param users number of domains that use each profile
   */
  report(
    users: ReadonlyMap<YamlDocument, number>,
    quota: ProblemQuota,
  ): { diagnostics: Diagnostic[]; others: Use[] } {
    const diagnostics: Diagnostic[] = []
    const others: Use[] = []
    for (const { layer, findings } of this.#alone) {
      const groups = [...(this.#groups.get(layer.document)?.values() ?? [])]
      const grouped = new Set(groups.map(({ finding }) => formatKey(finding)))
      const unused = findings.filter((finding) => !grouped.has(formatKey(finding)))
      for (const finding of quota.take(layer.document, unused))
        diagnostics.push(createDiagnostic(layer.document, locate(finding, layer)))
      for (const group of groups) {
        const isShared =
          !group.depends || (group.uses.length > 1 && group.domains === users.get(layer.document))
        if (!isShared) for (const use of group.uses) others.push(use)
        else append(diagnostics, quota.take(layer.document, [group]).map(createGroupDiagnostic))
      }
    }
    return { diagnostics, others }
  }
}

/** Formats what makes two findings of a profile the same problem. */
function formatKey({ pointer, part, code, summary }: Finding): string {
  return JSON.stringify([pointer, part, code, summary])
}

function locate<F extends Finding>(finding: F, { base }: Layer): F {
  return { ...finding, pointer: base + finding.pointer }
}

function createGroupDiagnostic({ layer, finding, uses, domains }: Group): Diagnostic {
  const { other, ...located } = locate(finding as ConfigFinding, layer)
  const [first] = uses
  const declared =
    other === undefined
      ? []
      : [
          {
            ...findPlace(layer.document, layer.base + formatPointerStep(other), 'key'),
            message: `"${other}" is declared here`,
          },
        ]
  return {
    ...createDiagnostic(layer.document, {
      ...located,
      detail:
        domains === 1 ? finding.detail : `${finding.detail} (${pluralize(domains, 'domain')})`,
      ...(domains === 1 && first !== undefined ? { domain: first.domains[0] } : {}),
      related: [...declared, ...uses.slice(0, maxRelated).map(createUsePlace(layer.document))],
    }),
    count: domains,
  }
}

function createUsePlace(document: YamlDocument) {
  return ({ manifest, layers, domains }: Use) => {
    const layer = layers.find((each) => each.document === document)
    const site = findSite(layer === undefined ? null : { layer, pointer: '' }, manifest)
    const number = domains.length === 1 ? '' : ` by ${pluralize(domains.length, 'domain')}`
    return { ...site.place, message: `used here${number}` }
  }
}
