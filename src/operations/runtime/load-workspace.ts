import { extname, join, relative, resolve, sep } from 'node:path'
import { catalogue } from '../../core/catalog/catalogue.ts'
import type { Levels } from '../../core/checks/levels.ts'
import { isWithin, resolveLinks } from '../../files/is-inside.ts'
import { loadPackaged } from '../../files/load-packaged.ts'
import type { FileMemory } from '../../manifest/manifests/cache/file-memory.ts'
import { type CacheFile, hashText } from '../../manifest/manifests/cache/manifest-cache.ts'
import {
  listDatabaseSecrets,
  listKeyTexts,
  ownVariables,
} from '../../manifest/workspace-file/credentials.ts'
import { workspaceFile } from '../../manifest/workspace-file/find-root.ts'
import { findFileKind } from '../../manifest/manifests/forgotten-files.ts'
import {
  type LoadingAids,
  loadWorkspace as loadBaseWorkspace,
} from '../../manifest/manifests/load-workspace.ts'
import {
  buildProgramEnvironment,
  createSecretSources,
  type SecretReach,
  type Withheld,
  type programs,
} from '../../manifest/secrets/secret-sources.ts'
import { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import type { Workspace, WorkspaceConfig } from '../../manifest/workspace-file/workspace.ts'
import type { SourceFile } from '../../manifest/yaml/yaml-file.ts'
import type { NotifyConfig, PlacedText, StateConfig } from '../../core/model/config.ts'
import { stores } from '../../core/model/stores.ts'
import { throwDefect } from '../../core/model/edgewise-error.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import type { SecretHider } from '../../core/model/secret.ts'
import { getRoot, inSpan } from '../../core/model/telemetry.ts'
import type { Outside, Checkout, Policed } from './parts.ts'
import { runBlocking } from './with-pool.ts'
import { findRemoteName } from '../../state/git/ask-git.ts'
import { findRepository } from '../../state/git/find-repository.ts'
import { buildGitEnvironment } from '../../state/git/git-environment.ts'
import { loadEarlierFiles } from '../../state/git/earlier-files.ts'
import { createCommitTest } from '../../state/git/open-place.ts'
import { findOnlyChange, findSourceTree, relateCommits } from '../../state/git/source-tree.ts'

/**
 * Workspace with its available secrets. Secrets in `desired` are references: `resolveSecrets`
 * resolves them.
 */
export interface LoadedWorkspace extends Workspace, Policed, Checkout {}

/**
 * Loads a workspace: `edgewise.yaml`, profiles and manifests. Problems of manifests are in
 * `diagnostics`.
 *
 * @param root folder of `edgewise.yaml`
 * @param reach secrets that may be looked up
 * @param added manifests, profiles and a workspace file that are not written yet; each replaces a
 *   file of its path
 * @param levels severities by code that win over those of the workspace file
 * @param memory files as an earlier call loaded them, with unsaved texts
 * @throws EdgewiseError `not-a-workspace` or `invalid` when `edgewise.yaml` is missing or wrong
 */
export function loadWorkspace(
  root: string,
  outside: Outside,
  reach: SecretReach,
  added: SourceFile[] = [],
  levels: Levels = {},
  memory?: FileMemory,
): LoadedWorkspace {
  return inSpan('load workspace', (span) => {
    const workspace = loadWithSecrets(root, outside, reach, added, levels, memory)
    getRoot()?.setAttributes({ 'edgewise.workspace': workspace.config.id })
    span?.setAttributes({ 'edgewise.domains': workspace.desired.size })
    return workspace
  })
}

function loadWithSecrets(
  root: string,
  outside: Outside,
  reach: SecretReach,
  added: SourceFile[],
  levels: Levels,
  memory: FileMemory | undefined,
): LoadedWorkspace {
  let vault: SecretVault | undefined
  const createKeeper = (config: WorkspaceConfig, locate: (pointer: string) => string) => {
    const { env } = outside
    const isCommitted = createCommitTest(root, buildGitEnvironment(env, config.service.token))
    const aids = { reach, isCommitted, locate }
    const withheld = listWithheld(config, env)
    const sources = createSecretSources(root, config.secrets, env, withheld, aids)
    const keeper = new SecretVault(config.id, (name) => sources.lookUp(name), sources)
    vault = keeper
    return {
      maskTemplate: (template: string) => keeper.refer(template),
      maskLiteral: (value: string) => keeper.maskLiteral(value),
      occursIn: (text: PlacedText) => keeper.occursIn(text),
    }
  }
  outside.onPhase?.({ name: 'listing-files' })
  const aids = { ...createAids(root, outside), memory, levels }
  const workspace = runBlocking(outside, () =>
    loadBaseWorkspace(root, outside.env, createKeeper, added, aids),
  )
  if (vault === undefined) throw new TypeError('expected loading to create the secret vault')
  const { token } = workspace.config.service
  const env = buildGitEnvironment(outside.env, token)
  vault.hide(token, '(token)')
  hidePasswords(vault, workspace.config.state, outside.env)
  hideReceivers(vault, workspace.config)
  for (const text of listHistoryKey(workspace.config, outside.env)) vault.hide(text, '(key)')
  const keeper = vault
  const names = new Set([...workspace.desired.keys(), ...catalogue.keys()])
  const scrub: SecretHider['scrub'] = (text, sent) => keeper.scrub(text, names, sent)
  const paths = workspace.files.map(({ path }) => path)
  const isSource = (path: string) =>
    ['manifests', 'profiles', 'policies'].includes(findFileKind(path, workspace.config) ?? '')
  return Object.assign(workspace, {
    vault,
    findTree: () =>
      findSourceTree({ root, paths, isSource }, env, (text) => scrub(markForeign(text))),
    relateCommits: (commits: string[]) => relateCommits(root, commits, env),
    findOnlyChange: (after: string | null, last: string) => findOnlyChange(root, after, last, env),
    loadEarlier: (files: readonly string[]) =>
      loadEarlierFiles(root, files, findBaseBranch(outside.env), env),
    findName: async () => scrub(markForeign(await nameWorkspace(workspace, env))),
    buildProgramEnvironment: (kind: keyof typeof programs) => {
      const withheld = listWithheld(workspace.config, outside.env)
      return buildProgramEnvironment(outside.env, workspace.config.secrets, withheld, kind)
    },
    scrub,
    redact: (text: string) => keeper.redact(text, names),
  })
}

/** Creates the aids for loading that the outside has. */
function createAids(root: string, outside: Outside): LoadingAids {
  return {
    parallel: outside.pool,
    openCache: () => openCache(root, outside),
    now: outside.clock.now(),
    onListed: (total) => outside.onPhase?.({ name: 'listing-files', total }),
    progress: (done, total) => outside.onPhase?.({ name: 'loading-files', done, total }),
    checked: (done, total) => outside.onPhase?.({ name: 'checking-manifests', done, total }),
  }
}

/** Finds the branch that the pull request of a CI job is for; null without one. */
function findBaseBranch(env: Outside['env']): string | null {
  return env['GITHUB_BASE_REF'] || env['CI_MERGE_REQUEST_TARGET_BRANCH_NAME'] || null
}

/** Lists the texts of the key that signs the history; none without one. */
function listHistoryKey({ sign }: Pick<WorkspaceConfig, 'sign'>, env: Outside['env']): string[] {
  return sign.key === undefined ? [] : listKeyTexts(env[sign.key.env] ?? '')
}

/** Lists what programs must not get, beside the secrets. */
function listWithheld(
  { service, state, notify, serve, sign }: WorkspaceConfig,
  env: Outside['env'],
): Withheld {
  const { variables, passwords } = listDatabaseSecrets(state, env)
  return {
    token: service.token,
    variables: [
      ...variables,
      ...notify.flatMap((receiver) => receiver.variables),
      ...serve.auth.variables,
      ...(sign.key === undefined ? [] : [sign.key.env]),
      ...ownVariables,
    ],
    passwords: [
      ...passwords,
      ...listReceiverSecrets(notify),
      serve.auth.provider?.clientSecret ?? '',
      ...listHistoryKey({ sign }, env),
      ...ownVariables.map((name) => env[name] ?? ''),
    ],
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

/** Removes what reaches receivers, and the secret of the client, from foreign texts. */
function hideReceivers(vault: SecretVault, { notify, serve }: WorkspaceConfig): void {
  for (const value of listReceiverSecrets(notify)) vault.hide(value, '(receiver)')
  const secret = serve.auth.provider?.clientSecret ?? ''
  if (secret !== '') vault.hide(secret, '(client)')
}

/** Opens a file of the cache; null without one. */
function openCache(root: string, { cache }: Outside): { file: CacheFile; program: string } | null {
  const program = cache === undefined ? null : (cache.program ?? identifyProgram())
  const file = program === null ? null : (cache?.open(root, 'manifests') ?? null)
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

/**
 * Names a workspace by the path of its file, with `/`, so that every clone and checkout has the
 * same name: from the top of its repository; outside of a repository from a state folder that is
 * not in the workspace, otherwise only the name of the file. Where several repositories may share
 * the state, that of the remote comes first, as in `git.example.com/team/cdn//edgewise.yaml`.
 */
async function nameWorkspace(
  { root, config: { state } }: Pick<Workspace, 'root' | 'config'>,
  env: Record<string, string>,
): Promise<string> {
  const home = resolveLinks(root)
  const folder = resolveLinks(resolve(home, state.path))
  const isElsewhere = state.store !== null && stores[state.store].isElsewhere(state)
  const usesFolder = !isElsewhere && !isWithin(home, folder)
  const top = findTop(home)
  const base = top ?? (usesFolder ? folder : home)
  const path = relative(base, join(home, workspaceFile)).replaceAll(sep, '/')
  const isShared = isElsewhere || (state.store === 'dir' && usesFolder)
  const remote = top !== null && isShared ? await findRemoteName(home, state.remote, env) : null
  return remote === null ? path : `${remote}//${path}`
}

/** Tests whether two names may be those of one workspace: a checkout may lack the remote. */
export function isSameWorkspace(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.split('//'))
  if (a === undefined || b === undefined) return false
  return a.length === b.length ? one === other : a.at(-1) === b.at(-1)
}

/** Finds the top folder of the repository; null without a usable one. */
export function findTop(folder: string): string | null {
  try {
    return findRepository(folder)?.workTree ?? null
  } catch (error) {
    throwDefect(error)
    return null
  }
}
