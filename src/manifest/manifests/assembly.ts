import { type Declared, toLayer } from './declared-places.ts'
import { type ProblemQuota, createDiagnostic } from './finding.ts'
import { createConfigDiagnostic, createMergeFinding, type Use } from './manifest-diagnostics.ts'
import { type ConfigContext, parseConfig, type ConfigFinding } from './parse-config.ts'
import type { Declaration, KnownManifest, Manifest } from './parse-document.ts'
import type { ProfileProblems } from './profile-problems.ts'
import type { Stack } from './profiles.ts'
import type { DocumentPlace, YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import type { Domain, Snapshot } from '../../core/model/item.ts'
import { append } from '../../core/model/lists.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { catalogue } from '../../core/catalog/catalogue.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Origin } from '../workspace-file/find-origin.ts'
import { mergeOver, type MergeFault } from './merge.ts'

/** Finds the stack below a manifest by its list of profiles. */
export type StackLookup = (profiles: Declaration['profiles']) => Stack

/** Rules, profiles and quota of problems that all manifests share. */
interface Shared {
  rules: ConfigContext
  problems: ProfileProblems
  quota: ProblemQuota
  findStack: StackLookup
}

/** Desired snapshot of a workspace, assembled manifest by manifest. */
export class Assembly {
  readonly desired: Snapshot = new Map()
  readonly declared = new Map<Domain, Declared>()
  readonly #shared: Shared
  readonly #diagnostics: Diagnostic[] = []
  /** Number of domains that use each document of profiles. */
  readonly #users = new Map<YamlDocument, number>()

  constructor(shared: Shared) {
    this.#shared = shared
  }

  /**
   * Adds a manifest, and returns it with the items of its domains; null if it has problems, or a
   * domain that another manifest declares.
   */
  add(manifest: Manifest | KnownManifest): KnownManifest | null {
    const stack = this.#shared.findStack(manifest.profiles)
    const domains = this.#declare(manifest, stack)
    for (const document of stack.documents)
      this.#users.set(document, (this.#users.get(document) ?? 0) + domains.length)
    if (manifest.kind === 'manifest') return this.#parse(manifest, domains, stack)
    const { file } = manifest.document
    for (const { domain, items } of manifest.domains)
      if (this.declared.get(domain)?.file === file) this.desired.set(domain, items)
    return manifest
  }

  /** Declares the domains of a manifest, and returns those that no other manifest declares. */
  #declare({ document, domains, owners }: Manifest | KnownManifest, stack: Stack): Domain[] {
    const { file, index } = document
    const own: Domain[] = []
    for (const { domain, pointer } of domains) {
      const first = this.declared.get(domain)
      if (first === undefined) {
        this.declared.set(domain, { file, index, pointer, stack, owners })
        own.push(domain)
      } else {
        for (const each of this.#shared.quota.take(document, [first]))
          this.#diagnostics.push(createDuplicateDiagnostic(domain, document, pointer, each))
      }
    }
    return own
  }

  #parse(manifest: Manifest, domains: Domain[], stack: Stack): KnownManifest | null {
    const { rules, problems, quota } = this.#shared
    const layers = [...stack.layers, toLayer(manifest)]
    const result = parseManifest({ manifest, domains, layers, stack }, rules, problems, quota)
    for (const [domain, items] of result.items) this.desired.set(domain, items)
    append(this.#diagnostics, result.diagnostics)
    const isWhole = !result.hasFindings && domains.length === manifest.domains.length
    return isWhole ? toKnown(manifest, this.desired) : null
  }

  /** Ends the assembly, and returns the problems of all manifests and of the profiles they use. */
  end(): Diagnostic[] {
    const { problems, quota } = this.#shared
    const { diagnostics, others } = problems.report(this.#users, quota)
    append(this.#diagnostics, diagnostics)
    for (const use of others)
      for (const each of quota.take(use.manifest.document, [use]))
        this.#diagnostics.push(createConfigDiagnostic(each))
    append(this.#diagnostics, quota.summarize())
    return this.#diagnostics
  }
}

/** Returns a manifest with the items of its domains, which makes its configuration dispensable. */
function toKnown(
  { document, profiles, owners, domains }: Manifest,
  desired: Snapshot,
): KnownManifest {
  const { file, index } = document
  const known = domains.map((each) => ({ ...each, items: desired.get(each.domain) ?? new Map() }))
  return { kind: 'known', document: { file, index }, profiles, owners, domains: known }
}

function createDuplicateDiagnostic(
  domain: Domain,
  document: DocumentPlace,
  pointer: string,
  first: Declared,
): Diagnostic {
  const related = [{ ...findPlace(first, first.pointer), message: 'first declared here' }]
  const { path } = first.file
  const detail = `the domain "${domain}" is already declared in ${path}. Remove one of the two.`
  return createDiagnostic(document, {
    code: 'domain-duplicate',
    pointer,
    summary: 'Duplicate domain',
    detail,
    domain,
    related,
  })
}

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
function parseManifest(
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
