import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Diagnostic } from '../model/problem.ts'

/**
 * Refuses a workspace without a manifest: a wrong glob or folder would otherwise release every
 * domain.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseEmpty(workspace: Workspace): void {
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
export function findEmpty(workspace: Workspace): Diagnostic[] {
  const hasErrors = workspace.diagnostics.some(({ severity }) => severity === 'error')
  return workspace.desired.size > 0 || hasErrors ? [] : [workspace.noManifest]
}
