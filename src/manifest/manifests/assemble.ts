import { checkProfile } from './check-profile.ts'
import { type Declared, createPlaceLookup, toLayer } from './declared-places.ts'
import type { Layer } from '../workspace-file/find-origin.ts'
import { ProblemQuota, createDiagnostic } from './finding.ts'
import { ItemCache } from './item-cache.ts'
import { listFiles } from './list-files.ts'
import { createConfigDiagnostic } from './manifest-diagnostics.ts'
import type { ConfigContext } from './parse-config.ts'
import {
  type Declaration,
  type KnownManifest,
  type Manifest,
  type Profile,
  parseDocument,
} from './parse-document.ts'
import { parseManifest } from './parse-manifest.ts'
import { ProfileProblems } from './profile-problems.ts'
import {
  type Stack,
  buildStack,
  findProfileProblems,
  indexProfiles,
  limitStacks,
} from './profiles.ts'
import { ReplacementBudget } from './references.ts'
import { findIdleNulls } from './unknown-names.ts'
import type { Workspace, WorkspaceConfig } from '../workspace-file/workspace.ts'
import type { DocumentPlace, YamlDocument } from '../yaml/yaml-file.ts'
import { findPlace } from '../yaml/yaml-place.ts'
import { inputLimits } from '../../core/model/input-limits.ts'
import type { Domain, Snapshot } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import { append } from '../../core/model/lists.ts'
import { type Progress, ignoreProgress } from '../../core/model/parallel.ts'
import { type Diagnostic, compareDiagnostics } from '../../core/model/problem.ts'
import type { SecretKeeper } from '../../core/model/secret.ts'

interface Assembled extends Pick<Workspace, 'desired' | 'diagnostics' | 'files' | 'findItemPlace'> {
  /** The manifests without a finding. */
  clean: KnownManifest[]
}

/**
 * Builds the desired snapshot of a workspace and collects the problems of its documents.
 *
 * @param home the document of the workspace file
 * @param documents in the order of their files
 * @param paths all files of the workspace, also those without a document
 * @param checked gets the number of checked documents
 */
export function assemble(
  config: WorkspaceConfig,
  home: YamlDocument,
  documents: (YamlDocument | KnownManifest)[],
  keeper: SecretKeeper,
  paths: string[] = [],
  checked: Progress = ignoreProgress,
): Assembled {
  checked(0, documents.length)
  const declarations: (Manifest | Profile | KnownManifest)[] = []
  const diagnostics: Diagnostic[] = []
  /** Manifests with equal lists of profiles share one. */
  const lists = new Map<string, Declaration['profiles']>()
  const quota = new ProblemQuota()
  for (const document of documents) {
    if ('kind' in document) {
      declarations.push(document)
      continue
    }
    const { declaration, findings } = parseDocument(document)
    for (const finding of quota.take(document, findings))
      diagnostics.push(createDiagnostic(document, finding))
    if (declaration === null) continue
    const key = JSON.stringify(declaration.profiles)
    declaration.profiles = lists.get(key) ?? declaration.profiles
    lists.set(key, declaration.profiles)
    declarations.push(declaration)
  }
  const profiles = indexProfiles(
    declarations.filter((each): each is Profile => each.kind === 'profile'),
  )
  append(diagnostics, profiles.diagnostics)
  append(diagnostics, findProfileProblems(declarations, profiles.byName))
  const limited = limitStacks(declarations, profiles.byName, quota)
  append(diagnostics, limited.diagnostics)
  for (const each of declarations) {
    if (each.kind === 'known') continue
    const domain = each.kind === 'manifest' ? each.domains[0]?.domain : undefined
    append(diagnostics, findNulls(each.document, '/config', each.config, quota, domain))
  }
  append(diagnostics, findNulls(home, '/defaults', config.defaults, quota))
  const flawed = new Set(diagnostics.map(({ file, document }) => `${document} ${file}`))
  const isFlawed = (document: DocumentPlace) =>
    quota.isFlawed(document) || flawed.has(`${document.index} ${document.file.path}`)

  const rules: ConfigContext = {
    secrets: new Set(Object.keys(config.secrets)),
    keeper,
    allowLiteralSecrets: config.allowLiteralSecrets,
    itemKeys: config.service.itemKeys,
    deletes: config.service.unset,
    itemCache: new ItemCache(),
    budget: new ReplacementBudget(),
    unknownItems: new Map(),
    itemsLeft: { count: inputLimits.unknownItems },
  }
  const defaults: Layer = { config: config.defaults, document: home, base: '/defaults' }
  const problems = new ProfileProblems(
    [
      defaults,
      ...[...profiles.byName.values()].map((profile) => ({
        ...toLayer(profile),
        profile: { name: profile.name, entry: 0 },
      })),
    ].map((layer) => ({ layer, findings: checkProfile(layer, rules) })),
  )
  const users = new Map<YamlDocument, number>()
  const stacks = new Map<Declaration['profiles'], Stack>()
  const findStack = ({ profiles: named }: Pick<Declaration, 'profiles'>): Stack => {
    let stack = stacks.get(named)
    if (stack === undefined)
      stacks.set(named, (stack = buildStack(named, profiles.byName, defaults)))
    return stack
  }

  const desired: Snapshot = new Map()
  const clean: KnownManifest[] = []
  const declared = new Map<Domain, Declared>()
  for (const [i, manifest] of declarations.entries()) {
    checked(i, documents.length)
    if (manifest.kind === 'profile') continue
    const stack = findStack(manifest)
    const domains: Domain[] = []
    const { file, index } = manifest.document
    for (const { domain, pointer } of manifest.domains) {
      const first = declared.get(domain)
      if (first === undefined) {
        declared.set(domain, { file, index, pointer, stack })
        domains.push(domain)
      } else {
        for (const each of quota.take(manifest.document, [first]))
          diagnostics.push(createDuplicateDiagnostic(domain, manifest.document, pointer, each))
      }
    }
    for (const document of stack.documents)
      users.set(document, (users.get(document) ?? 0) + domains.length)
    if (manifest.kind === 'known') {
      for (const { domain, items } of manifest.domains)
        if (declared.get(domain)?.file === file) desired.set(domain, items)
      if (!limited.emptied.has(manifest)) clean.push(manifest)
      continue
    }
    const layers = [...stack.layers, toLayer(manifest)]
    const result = parseManifest({ manifest, domains, layers, stack }, rules, problems, quota)
    for (const [domain, items] of result.items) desired.set(domain, items)
    append(diagnostics, result.diagnostics)
    const isClean = !result.hasFindings && !isFlawed(manifest.document)
    if (isClean && domains.length === manifest.domains.length)
      clean.push(toKnown(manifest, desired))
  }
  const shared = problems.report(users, quota)
  append(diagnostics, shared.diagnostics)
  for (const use of shared.others)
    for (const each of quota.take(use.manifest.document, [use]))
      diagnostics.push(createConfigDiagnostic(each))
  append(diagnostics, quota.summarize())
  return {
    desired,
    diagnostics: diagnostics.toSorted(compareDiagnostics),
    files: listFiles(paths, declarations, profiles.byName),
    findItemPlace: createPlaceLookup(declared),
    clean,
  }
}

/** Returns a manifest with the items of its domains, which makes its configuration dispensable. */
function toKnown({ document, profiles, domains }: Manifest, desired: Snapshot): KnownManifest {
  const { file, index } = document
  const known = domains.map((each) => ({ ...each, items: desired.get(each.domain) ?? new Map() }))
  return { kind: 'known', document: { file, index }, profiles, domains: known }
}

function findNulls(
  document: YamlDocument,
  base: string,
  config: JsonObject,
  quota: ProblemQuota,
  domain?: Domain,
): Diagnostic[] {
  return quota
    .take(document, findIdleNulls(config))
    .map((finding) =>
      createDiagnostic(document, { ...finding, pointer: base + finding.pointer, domain }),
    )
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
