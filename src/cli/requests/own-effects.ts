import type { Workspace } from '../../manifest/workspace-file/workspace.ts'
import type { EffectsRequest } from '../../operations/tracing/effects.ts'
import type { EffectsContext } from './effects-request.ts'

/**
 * Reads the requests that the workspace file names, for commands without options for them; null for
 * none.
 *
 * @throws EdgewiseError `usage` if a file has no request
 */
export async function readOwnEffects(
  context: EffectsContext,
  workspace: Workspace,
): Promise<EffectsRequest | null> {
  if (workspace.config.requests.length === 0) return null
  const { readEffectsRequest } = await import('./effects-request.ts')
  return readEffectsRequest(context, workspace, { requests: [], assume: [] })
}
