import { loadWorkspace as readWorkspace } from '../manifest/load-workspace.ts'
import { createSecretSources, type SecretReach } from '../manifest/secret-sources.ts'
import { SecretVault } from '../manifest/secret-vault.ts'
import { removeValue } from '../manifest/spellings.ts'
import type { Workspace } from '../manifest/workspace.ts'
import { findHeadCommit } from '../state/git/plumbing.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import type { Outside } from './outside.ts'

/** A workspace with the secrets that may be known. */
export interface LoadedWorkspace extends Workspace {
  vault: SecretVault
  /**
   * The commit that the manifests are at; null whenever git has no answer, since it is information
   * only.
   */
  commit(): Promise<string | null>
  /** A text without the token and without the values of secrets that were looked up. */
  scrub(text: string): string
}

/**
 * Reads a workspace: `edgewise.yaml`, profiles and manifests. Problems of manifests are in
 * `diagnostics`.
 *
 * @param root the folder that holds `edgewise.yaml`
 * @param reach which secrets may be asked for
 * @throws EdgewiseError `not-a-workspace` or `invalid` when `edgewise.yaml` is missing or wrong
 */
export function loadWorkspace(root: string, outside: Outside, reach: SecretReach): LoadedWorkspace {
  let vault: SecretVault | undefined
  const workspace = readWorkspace(root, outside.env, (config) => {
    const { secrets, service } = config
    const sources = createSecretSources(root, secrets, outside.env, service.token, reach)
    vault = new SecretVault(config.id, (name) => sources.lookUp(name), sources)
    return vault
  })
  if (vault === undefined) throw new TypeError('expected the workspace to ask for a secret keeper')
  const { token } = workspace.config.service
  const env = buildGitEnvironment(outside.env, token)
  vault.hide(token)
  const keeper = vault
  const scrub = (text: string) =>
    keeper.scrub(token === '' ? text : removeValue(text, token, '(token)'))
  return Object.assign(workspace, { vault, commit: () => findHeadCommit(root, env), scrub })
}
