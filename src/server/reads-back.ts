import type { LoadedWorkspace } from '../operations/load-workspace.ts'

/** Tests whether checks read back from the service, since nothing else observes it. */
export function readsBack({ config }: Pick<LoadedWorkspace, 'config'>): boolean {
  return config.service.readBack && config.serve.drift.observed === null
}
