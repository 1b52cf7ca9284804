import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import { formatPointerStep, type JsonObject } from '../model/json.ts'
import { compareDiagnostics, type Diagnostic, type Place } from '../model/problem.ts'
import type { SecretKeeper } from '../model/secret-keeper.ts'
import { createDiagnostic } from './finding.ts'
import { findIdleNulls } from './idle-nulls.ts'
import { createConfigDiagnostic, createMergeDiagnostic, findSite } from './manifest-diagnostics.ts'
import { mergeOver, type MergeFault } from './merge.ts'
import { findOrigin, type Layer } from './find-origin.ts'
import { findProfileProblems, indexProfiles, buildStack, type Stack } from './profiles.ts'
import { parseConfig, type ConfigFinding, type ConfigContext } from './parse-config.ts'
import { parseDocument, type Manifest, type Profile } from './parse-document.ts'
import type { Workspace, WorkspaceConfig } from './workspace.ts'
import type { YamlDocument } from './yaml-file.ts'
import { findPlace } from './yaml-place.ts'

type Assembled = Pick<Workspace, 'desired' | 'diagnostics' | 'findItemPlace'>

/**
 * The desired snapshot of a workspace's documents, and everything that is wrong with them. `home`
 * is the workspace file's document.
 */
export function assemble(
  config: WorkspaceConfig,
  home: YamlDocument,
  documents: YamlDocument[],
  keeper: SecretKeeper,
): Assembled {
  const read = documents.map((document) => ({ document, ...parseDocument(document) }))
  const declarations = read.flatMap(({ declaration }) =>
    declaration === null ? [] : [declaration],
  )
  const profiles = indexProfiles(
    declarations.filter((each): each is Profile => each.kind === 'profile'),
  )
  const diagnostics = [
    ...read.flatMap(({ document, findings }) =>
      findings.map((finding) => createDiagnostic(document, finding)),
    ),
    ...profiles.diagnostics,
    ...findProfileProblems(declarations, profiles.byName),
    ...declarations.flatMap((each) =>
      ofNulls(
        each.document,
        '/config',
        each.config,
        each.kind === 'manifest' ? each.domains[0]?.domain : undefined,
      ),
    ),
    ...ofNulls(home, '/defaults', config.defaults),
  ]

  const rules: ConfigContext = {
    secrets: new Set(Object.keys(config.secrets)),
    keeper,
    allowLiteralSecrets: config.allowLiteralSecrets,
    itemKeys: config.service.itemKeys,
    itemCache: new Map(),
  }
  const defaults: Layer = { config: config.defaults, document: home, base: '/defaults' }
  const stacks = new Map<string, Stack>()
  const stackFor = (manifest: Manifest): Stack => {
    const key = JSON.stringify(manifest.profiles)
    const stack = stacks.get(key) ?? buildStack(manifest.profiles, profiles.byName, defaults)
    stacks.set(key, stack)
    return stack
  }

  const desired: Snapshot = new Map()
  const declared = new Map<Domain, Declared>()
  for (const manifest of declarations) {
    if (manifest.kind !== 'manifest') continue
    const stack = stackFor(manifest)
    const layers: Layer[] = [
      ...stack.layers,
      { config: manifest.config, document: manifest.document, base: '/config' },
    ]
    const domains: Domain[] = []
    for (const { domain, pointer } of manifest.domains) {
      const first = declared.get(domain)
      if (first === undefined) {
        declared.set(domain, { manifest, pointer, layers })
        domains.push(domain)
      } else {
        diagnostics.push(declaredTwice(domain, manifest.document, pointer, first))
      }
    }
    const result = readManifest(manifest, domains, stack, layers, rules)
    for (const [domain, items] of result.items) desired.set(domain, items)
    for (const diagnostic of result.diagnostics) diagnostics.push(diagnostic)
  }
  return {
    desired,
    diagnostics: diagnostics.toSorted(compareDiagnostics),
    findItemPlace: (domain, item, pointer) => placeOf(declared.get(domain), item, pointer),
  }
}

function ofNulls(
  document: YamlDocument,
  base: string,
  config: JsonObject,
  domain?: Domain,
): Diagnostic[] {
  return findIdleNulls(config).map((finding) =>
    createDiagnostic(document, { ...finding, pointer: base + finding.pointer, domain }),
  )
}

interface Declared {
  manifest: Manifest
  pointer: string
  layers: Layer[]
}

function declaredTwice(
  domain: Domain,
  document: YamlDocument,
  pointer: string,
  first: Declared,
): Diagnostic {
  const related = [
    { ...findPlace(first.manifest.document, first.pointer), message: 'first declared here' },
  ]
  const detail = `the domain "${domain}" has a manifest already (${first.manifest.document.file.path}). Keep one of them.`
  return createDiagnostic(document, {
    code: 'domain-duplicate',
    pointer,
    summary: 'A domain is declared twice',
    detail,
    domain,
    related,
  })
}

interface ReadManifest {
  items: Snapshot
  diagnostics: Diagnostic[]
}

function readManifest(
  manifest: Manifest,
  domains: Domain[],
  stack: Stack,
  layers: Layer[],
  rules: ConfigContext,
): ReadManifest {
  const faults: MergeFault[] = []
  const config = mergeOver(stack.config, manifest.config, faults)
  const vars = manifest.vars.size === 0 ? stack.vars : new Map([...stack.vars, ...manifest.vars])
  const items: Snapshot = new Map()
  const found = new Map<string, { finding: ConfigFinding; domains: Domain[] }>()
  for (const domain of domains) {
    const read = parseConfig(config, domain, vars, rules)
    items.set(domain, read.items)
    for (const finding of read.findings) {
      const key = JSON.stringify(finding)
      const same = found.get(key)
      if (same === undefined) found.set(key, { finding, domains: [domain] })
      else same.domains.push(domain)
    }
  }
  const merging = [
    ...stack.faults.map((fault) => createMergeDiagnostic(fault, fault.layer, manifest, domains)),
    ...faults.map((fault) => createMergeDiagnostic(fault, layers.at(-1), manifest, domains)),
  ]
  // What could not be merged is not worth judging.
  const unmerged = new Set(merging.map(({ item }) => item))
  for (const held of items.values()) for (const item of unmerged) held.delete(item ?? '')
  const judged = [...found.values()].filter(({ finding }) => !unmerged.has(finding.item))
  return {
    items,
    diagnostics: [
      ...merging,
      ...judged.map((each) => createConfigDiagnostic(each.finding, each.domains, layers, manifest)),
    ],
  }
}

function placeOf(
  declared: Declared | undefined,
  item: ItemKey,
  pointer = '',
): (Place & { document: number }) | null {
  if (declared === undefined) return null
  const origin = findOrigin(declared.layers, formatPointerStep(item) + pointer)
  if (origin === null || origin.pointer === '') return null
  return {
    ...findSite(origin, declared.manifest).place,
    document: declared.manifest.document.index,
  }
}
