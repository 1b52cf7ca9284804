import { type Declared, toLayer } from './declared-places.ts'
import { type ProblemQuota, createDiagnostic } from './finding.ts'
import { createConfigDiagnostic } from './manifest-diagnostics.ts'
import type { ConfigContext } from './parse-config.ts'
import type { Declaration, KnownManifest, Manifest } from './parse-document.ts'
import { parseManifest } from './parse-manifest.ts'
import type { ProfileProblems } from './profile-problems.ts'
import type { Stack } from './profiles.ts'
import type { DocumentPlace, YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import type { Domain, Snapshot } from '../../core/model/item.ts'
import { append } from '../../core/model/lists.ts'
import type { Diagnostic } from '../../core/model/problem.ts'

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
