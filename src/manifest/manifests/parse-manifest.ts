import { catalogue } from '../../core/catalog/catalogue.ts'
import type { Domain, Snapshot } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import type { Origin } from '../workspace-file/find-origin.ts'
import { createConfigDiagnostic, createMergeFinding, type Use } from './manifest-diagnostics.ts'
import { mergeOver, type MergeFault } from './merge.ts'
import { parseConfig, type ConfigContext, type ConfigFinding } from './parse-config.ts'
import type { ProblemQuota } from './finding.ts'
import type { ProfileProblems } from './profile-problems.ts'
import type { Stack } from './profiles.ts'

/** Items of a manifest's domains, with the problems of the manifest. */
interface ParsedManifest {
  items: Snapshot
  diagnostics: Diagnostic[]
  /** Also those that are reported with a profile. */
  hasFindings: boolean
}

/** A manifest with its domains that no other declares, and what is below it. */
interface ManifestSource extends Omit<Use, 'finding'> {
  stack: Stack
}

/** Parses a manifest over its profiles, for each of its domains. */
export function parseManifest(
  source: ManifestSource,
  rules: ConfigContext,
  problems: ProfileProblems,
  quota: ProblemQuota,
): ParsedManifest {
  const { manifest, domains, layers, stack } = source
  const faults: MergeFault[] = []
  // The unknown items of profiles are reported with the profiles, however many use them.
  const size = Object.keys(stack.config).length
  if (size > 2 * catalogue.size && (rules.itemsLeft.count -= size) < 0)
    return { items: new Map(), diagnostics: [], hasFindings: true }
  const config = mergeOver(stack.config, manifest.config, faults)
  const vars = manifest.vars.size === 0 ? stack.vars : new Map([...stack.vars, ...manifest.vars])
  const shared = domains.length > 1 ? config : stack.config
  const items: Snapshot = new Map()
  const found = new Map<string, { finding: ConfigFinding; domains: Domain[] }>()
  const checked = isOversized(config) ? domains.slice(0, 1) : domains
  for (const domain of checked) {
    const parsed = parseConfig(config, domain, vars, rules, shared)
    items.set(domain, parsed.items)
    for (const finding of parsed.findings) {
      const key = JSON.stringify(finding)
      const same = found.get(key)
      if (same === undefined) found.set(key, { finding, domains: [domain] })
      else same.domains.push(domain)
    }
  }
  if (stack.faults.length + faults.length + found.size === 0)
    return { items, diagnostics: [], hasFindings: false }
  const top = layers.at(-1)
  const merging = [...stack.faults, ...faults.map((fault) => ({ ...fault, layer: top }))].map(
    ({ layer, ...fault }) => ({
      finding: createMergeFinding(fault),
      origin: layer === undefined ? null : { layer, pointer: fault.pointer },
    }),
  )
  // Items that could not be merged are not checked any further.
  const unmerged = new Set(merging.map(({ finding }) => finding.item))
  for (const states of items.values()) for (const item of unmerged) states.delete(item)
  const judged = [...found.values()].filter(({ finding }) => !unmerged.has(finding.item))
  const hasFindings = found.size + merging.length > 0
  return { items, hasFindings, diagnostics: report(source, { merging, judged }, problems, quota) }
}

/** Tests whether a configuration has more items than exist: it has an error for any domain. */
function isOversized(config: JsonObject): boolean {
  return Object.keys(config).length > 2 * catalogue.size
}

interface Judged {
  merging: { finding: ConfigFinding; origin: Origin | null }[]
  judged: { finding: ConfigFinding; domains: Domain[] }[]
}

/** Reports the findings that are not those of a profile, which is reported once for all. */
function report(
  { manifest, domains, layers }: ManifestSource,
  { merging, judged }: Judged,
  problems: ProfileProblems,
  quota: ProblemQuota,
): Diagnostic[] {
  const unmergeable = merging.flatMap(({ finding, origin }) => {
    const use = { finding, domains, layers, manifest }
    return problems.add(use, origin) ? [] : [{ use, origin }]
  })
  const own = judged
    .map((each) => ({ ...each, layers, manifest }))
    .filter((use) => !problems.add(use))
  return [
    ...quota
      .take(manifest.document, unmergeable)
      .map(({ use, origin }) => createConfigDiagnostic(use, origin)),
    ...quota.take(manifest.document, own).map((use) => createConfigDiagnostic(use)),
  ]
}
