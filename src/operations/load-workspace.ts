import { extname } from 'node:path'
import { catalogue } from '../catalog/catalogue.ts'
import { loadPackaged } from '../files/load-packaged.ts'
import { buildManifestKey, hashText, type CacheFile } from '../manifest/cache/cache-file.ts'
import { listDatabaseSecrets } from '../manifest/database-secrets.ts'
import { loadWorkspace as loadBaseWorkspace } from '../manifest/load-workspace.ts'
import { createSecretSources, type SecretReach } from '../manifest/secret-sources.ts'
import { SecretVault } from '../manifest/secret-vault.ts'
import type { Workspace, WorkspaceConfig } from '../manifest/workspace.ts'
import type { SourceFile } from '../manifest/yaml-file.ts'
import type { NotifyConfig, PlacedText, StateConfig } from '../model/config.ts'
import { findVersion } from '../model/known-items.ts'
import type { SourceTree } from '../model/source-tree.ts'
import { inSpan } from '../model/tracing.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import { createCommitTest } from '../state/git/open-place.ts'
import {
  findOnlyChange,
  findSourceTree,
  relateCommits,
  type Relation,
} from '../state/git/source-tree.ts'
import { KnownStates } from './known-states.ts'
import { nameWorkspace } from './name-workspace.ts'
import type { CachePart, Outside } from './outside.ts'
import { runBlocking } from './run-blocking.ts'

/**
 * Workspace with its available secrets. Secrets in `desired` are references: `resolveSecrets`
 * resolves them.
 */
export interface LoadedWorkspace extends Workspace {
  vault: SecretVault
  /** Finds the tree of the manifests. */
  findTree(): Promise<SourceTree>
  /** Finds how commits are related to the checked-out one. */
  relateCommits(commits: string[]): Promise<Map<string, Relation>>
  /** Finds the one commit that changed the workspace after another one; null if it is not one. */
  findOnlyChange(after: string | null, last: string): Promise<string | null>
  /** Finds the name that the workspace has in every clone, as `Applied.workspace`. */
  findName(): Promise<string>
  /**
   * Removes the token, the password of the database and the values of looked-up secrets from a
   * foreign text: one of the service, of git, of another program. Names of domains and items stay.
   */
  scrub(text: string): string
}

/**
 * Loads a workspace: `edgewise.yaml`, profiles and manifests. Problems of manifests are in
 * `diagnostics`.
 *
 * @param root folder of `edgewise.yaml`
 * @param reach secrets that may be looked up
 * @param added manifests, profiles and a workspace file that are not written yet
 * @throws EdgewiseError `not-a-workspace` or `invalid` when `edgewise.yaml` is missing or wrong
 */
export function loadWorkspace(
  root: string,
  outside: Outside,
  reach: SecretReach,
  added: SourceFile[] = [],
): LoadedWorkspace {
  const { tracer } = outside
  return inSpan(tracer, 'load workspace', (span) => {
    const workspace = loadWithSecrets(root, outside, reach, added)
    tracer?.addScrub((text) => workspace.scrub(text))
    tracer?.root().set({ 'edgewise.workspace': workspace.config.id })
    span.set({ 'edgewise.domains': workspace.desired.size })
    return workspace
  })
}

function loadWithSecrets(
  root: string,
  outside: Outside,
  reach: SecretReach,
  added: SourceFile[],
): LoadedWorkspace {
  let vault: SecretVault | undefined
  const createKeeper = (config: WorkspaceConfig, locate: (pointer: string) => string) => {
    const { env } = outside
    const { secrets, service } = config
    const withheld = { token: service.token, ...listOtherSecrets(config, env) }
    const isCommitted = createCommitTest(root, buildGitEnvironment(env, service.token))
    const sources = createSecretSources(root, secrets, env, withheld, {
      reach,
      isCommitted,
      locate,
    })
    const keeper = new SecretVault(config.id, (name) => sources.lookUp(name), sources)
    vault = keeper
    return {
      maskTemplate: (template: string) => keeper.refer(template),
      maskLiteral: (value: string) => keeper.maskLiteral(value),
      occursIn: (text: PlacedText) => keeper.occursIn(text),
    }
  }
  outside.onPhase?.({ name: 'listing-files' })
  const workspace = runBlocking(outside, () =>
    loadBaseWorkspace(root, outside.env, createKeeper, added, {
      ...(outside.pool === undefined ? {} : { parallel: outside.pool }),
      openCache: () => openCache(root, 'manifests', outside),
      onListed: (total) => outside.onPhase?.({ name: 'listing-files', total }),
      progress: (done, total) => outside.onPhase?.({ name: 'loading-files', done, total }),
      checked: (done, total) => outside.onPhase?.({ name: 'checking-manifests', done, total }),
    }),
  )
  if (vault === undefined) throw new TypeError('expected loading to create the secret vault')
  const { token } = workspace.config.service
  const env = buildGitEnvironment(outside.env, token)
  vault.hide(token, '(token)')
  hidePasswords(vault, workspace.config.state, outside.env)
  for (const value of listReceiverSecrets(workspace.config.notify)) vault.hide(value, '(receiver)')
  const keeper = vault
  const names = new Set([...workspace.desired.keys(), ...catalogue.keys()])
  const scrub = (text: string) => keeper.scrub(text, names)
  const paths = workspace.files.map(({ path }) => path)
  return Object.assign(workspace, {
    vault,
    findTree: () => findSourceTree({ root, paths }, env),
    relateCommits: (commits: string[]) => relateCommits(root, commits, env),
    findOnlyChange: (after: string | null, last: string) => findOnlyChange(root, after, last, env),
    findName: async () => scrub(await nameWorkspace(workspace, env)),
    scrub,
  })
}

/** Lists what programs of secrets must not get, beside the token. */
function listOtherSecrets(
  { state, notify }: WorkspaceConfig,
  env: Outside['env'],
): { variables: string[]; passwords: string[] } {
  const { variables, passwords } = listDatabaseSecrets(state, env)
  return {
    variables: [...variables, ...notify.flatMap((receiver) => receiver.variables)],
    passwords: [...passwords, ...listReceiverSecrets(notify)],
  }
}

/** Lists the addresses and keys of receivers that come from variables. */
function listReceiverSecrets(receivers: NotifyConfig[]): string[] {
  return receivers
    .flatMap(({ url, secret = '', variables }) => [variables.length > 0 ? url : '', secret])
    .filter((value) => value !== '')
}

/** Removes the passwords of a database from foreign texts from now on. */
export function hidePasswords(vault: SecretVault, state: StateConfig, env: Outside['env']): void {
  for (const password of listDatabaseSecrets(state, env).passwords)
    vault.hide(password, '(password)')
}

/**
 * Opens the state files that earlier runs have compared with the manifests; null without a cache,
 * and for so few manifests that none is known.
 */
export function openKnownStates(
  { root, config, desired }: Workspace,
  outside: Outside,
): KnownStates | null {
  if (![...desired.values()].some((items) => findVersion(items) !== null)) return null
  const cache = openCache(root, 'states', outside)
  if (cache === null) return null
  return new KnownStates(cache.file, buildManifestKey(cache.program, config), desired)
}

/** Opens a file of the cache; null without one. */
function openCache(
  root: string,
  part: CachePart,
  { cache }: Outside,
): { file: CacheFile; program: string } | null {
  const program = cache === undefined ? null : (cache.program ?? identifyProgram())
  const file = program === null ? null : (cache?.open(root, part) ?? null)
  return program === null || file === null ? null : { file, program }
}

/**
 * Identifies this program by its built file, which names all parts of the program that it needs by
 * their hashes; null if it runs from its sources.
 */
function identifyProgram(): string | null {
  const url = new URL(import.meta.url)
  return extname(url.pathname) === '.cjs' ? hashText(process.version + loadPackaged(url)) : null
}
