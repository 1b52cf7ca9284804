import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Diagnostic } from '../core/model/problem.ts'
import type { Workspace } from '../manifest/workspace-file/workspace.ts'

/**
 * Refuses a workspace without a manifest: a wrong glob or folder would otherwise release every
 * domain.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseEmpty(
  workspace: Pick<Workspace, 'root' | 'desired' | 'diagnostics' | 'noManifest'>,
): void {
  const [found] = findEmpty(workspace)
  if (found === undefined) return
  throw new EdgewiseError(
    'invalid',
    `no manifest was found in ${workspace.root}: ${found.detail}`,
    'Check the folder, and "manifests" in edgewise.yaml. To release the last domain, keep its ' +
      'manifest with "config: {}", or remove it from state with "edgewise state forget".',
  )
}

/** Finds the error of a workspace without a manifest; one with other errors has no such error. */
export function findEmpty(
  workspace: Pick<Workspace, 'desired' | 'diagnostics' | 'noManifest'>,
): Diagnostic[] {
  return workspace.desired.size > 0 || hasErrors(workspace) ? [] : [workspace.noManifest]
}

/** Tests whether a manifest has an error. */
export function hasErrors({ diagnostics }: Pick<Workspace, 'diagnostics'>): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/**
 * Refuses a workspace whose manifests have errors.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseInvalid(
  workspace: Pick<Workspace, 'diagnostics'>,
  message = 'the manifests have errors',
  hint = 'Run "edgewise validate".',
): void {
  if (hasErrors(workspace)) throw new EdgewiseError('invalid', message, hint, workspace.diagnostics)
}
