import { Assembly, type StackLookup } from './assembly.ts'
import { checkProfile } from './check-profile.ts'
import { createPlaceLookups, toLayer, type PlaceLookups } from './declared-places.ts'
import type { Layer } from '../workspace-file/find-origin.ts'
import { ProblemQuota, createDiagnostic } from './finding.ts'
import { ItemCache } from './item-cache.ts'
import { listFiles } from './list-files.ts'
import { createGivenParser } from '../tests/parse-given.ts'
import type { ConfigContext } from './parse-config.ts'
import {
  type Declaration,
  type KnownManifest,
  type Manifest,
  type Profile,
  parseDocument,
} from './parse-document.ts'
import { ProfileProblems } from './profile-problems.ts'
import {
  type Profiles,
  type Stack,
  buildStack,
  findProfileProblems,
  indexProfiles,
  limitStacks,
} from './profiles.ts'
import { ReplacementBudget } from './references.ts'
import { findIdleNulls } from './unknown-names.ts'
import { findConverted, findEmpty } from '../yaml/written-scalars.ts'
import type { Workspace, WorkspaceConfig } from '../workspace-file/workspace.ts'
import type { DeclaredException } from '../policies/parse-exceptions.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'
import { inputLimits } from '../../core/model/input-limits.ts'
import type { Domain } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import { append, getOrAdd } from '../../core/model/lists.ts'
import { type Progress, ignoreProgress } from '../../core/model/parallel.ts'
import {
  type Diagnostic,
  type DiagnosticCode,
  compareDiagnostics,
} from '../../core/model/problem.ts'
import type { SecretKeeper } from '../../core/model/secret.ts'

interface Assembled
  extends
    PlaceLookups,
    Pick<Workspace, 'desired' | 'diagnostics' | 'files' | 'exceptions' | 'parseGiven'> {
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
  const quota = new ProblemQuota()
  const { declarations, diagnostics } = parseDocuments(documents, quota)
  const profiles = indexProfiles(declarations.filter((each) => each.kind === 'profile'))
  append(diagnostics, profiles.diagnostics)
  append(diagnostics, findProfileProblems(declarations, profiles.byName))
  const limited = limitStacks(declarations, profiles.byName, quota)
  append(diagnostics, limited.diagnostics)
  const defaults: Layer = { config: config.defaults, document: home, base: '/defaults' }
  const findStack = createStackLookup(profiles.byName, defaults)
  append(diagnostics, findOddScalars(declarations, defaults, quota, findStack))
  const flawed = new Set(diagnostics.map(({ file, document }) => `${document} ${file}`))
  const isFlawed = (manifest: Manifest | KnownManifest) => {
    if (manifest.kind === 'known') return limited.emptied.has(manifest)
    const { index, file } = manifest.document
    return quota.isFlawed(manifest.document) || flawed.has(`${index} ${file.path}`)
  }
  const rules = createRules(config, keeper)
  const problems = checkProfiles(defaults, profiles.byName, rules)
  const assembly = new Assembly({ rules, problems, quota, findStack })
  const clean: KnownManifest[] = []
  const exceptions: DeclaredException[] = []
  for (const [i, declaration] of declarations.entries()) {
    checked(i, documents.length)
    if (declaration.kind === 'profile') continue
    const whole = assembly.add(declaration)
    if (declaration.kind === 'manifest') append(exceptions, declaration.exceptions)
    // The cache has no exceptions.
    const isPlain = declaration.kind === 'known' || declaration.exceptions.length === 0
    if (whole !== null && isPlain && !isFlawed(declaration)) clean.push(whole)
  }
  append(diagnostics, assembly.end())
  return {
    desired: assembly.desired,
    diagnostics: diagnostics.toSorted(compareDiagnostics),
    files: listFiles(paths, declarations, profiles.byName),
    ...createPlaceLookups(assembly.declared),
    parseGiven: createGivenParser(rules, profiles.byName, defaults, findStack),
    exceptions,
    clean,
  }
}

/** Parses documents into declarations; equal lists of profiles become the same list. */
function parseDocuments(
  documents: (YamlDocument | KnownManifest)[],
  quota: ProblemQuota,
): { declarations: (Manifest | Profile | KnownManifest)[]; diagnostics: Diagnostic[] } {
  const declarations: (Manifest | Profile | KnownManifest)[] = []
  const diagnostics: Diagnostic[] = []
  const lists = new Map<string, Declaration['profiles']>()
  for (const document of documents) {
    if ('kind' in document) {
      declarations.push(document)
      continue
    }
    const { declaration, findings } = parseDocument(document)
    for (const finding of quota.take(document, findings))
      diagnostics.push(createDiagnostic(document, finding))
    if (declaration === null) continue
    const { profiles } = declaration
    declaration.profiles = getOrAdd(lists, JSON.stringify(profiles), () => profiles)
    declarations.push(declaration)
  }
  return { declarations, diagnostics }
}

/** Finds nulls without an effect, keys without a value, and text that would become a number. */
function findOddScalars(
  declarations: (Manifest | Profile | KnownManifest)[],
  defaults: Layer,
  quota: ProblemQuota,
  findStack: StackLookup,
): Diagnostic[] {
  const find = (
    { document, base, config }: Layer,
    code: DiagnosticCode,
    below: JsonObject | null,
    domain?: Domain,
  ) => {
    const converted = findConverted(document, base, code)
    // What is wrong with the keys of a document is reported already.
    const empty = quota.isFlawed(document) ? [] : findEmpty(document, base, code, below)
    return quota
      .take(document, [...findIdleNulls(config, base), ...converted, ...empty])
      .map((finding) => createDiagnostic(document, { ...finding, domain }))
  }
  const own = declarations.flatMap((each) => {
    if (each.kind === 'known') return []
    if (each.kind === 'profile') return find(toLayer(each), 'profile-invalid', null)
    const below = findStack(each.profiles).config
    return find(toLayer(each), 'manifest-invalid', below, each.domains[0]?.domain)
  })
  return [...own, ...find(defaults, 'workspace-invalid', {})]
}

function createRules(config: WorkspaceConfig, keeper: SecretKeeper): ConfigContext {
  return {
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
}

/** Checks the defaults and each profile alone. */
function checkProfiles(defaults: Layer, byName: Profiles, rules: ConfigContext): ProfileProblems {
  const profiles = [...byName.values()].map((profile) => ({
    ...toLayer(profile),
    profile: { name: profile.name, entry: 0 },
  }))
  return new ProfileProblems(
    [defaults, ...profiles].map((layer) => ({ layer, findings: checkProfile(layer, rules) })),
  )
}

/** Creates a lookup of the stack of a list of profiles, which builds each stack once. */
function createStackLookup(byName: Profiles, defaults: Layer): StackLookup {
  const stacks = new Map<Declaration['profiles'], Stack>()
  return (profiles) => getOrAdd(stacks, profiles, () => buildStack(profiles, byName, defaults))
}
