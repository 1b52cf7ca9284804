import type { DriftRequest } from '../operations/drift.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { observe } from '../operations/observe.ts'
import type { Outside } from '../operations/outside.ts'

/** Builds the request of a drift check: with the observed configuration, if there is a source. */
export function buildDriftRequest(workspace: LoadedWorkspace, outside: Outside): DriftRequest {
  const { root, config, scrub } = workspace
  const { observed } = config.serve.drift
  if (observed === null) return {}
  return { observe: () => observe(observed, { ...outside, cwd: root }, scrub) }
}
