import type { RecordedState, Store } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** Lists the warnings of the first plan against a service. */
export async function listFirstPlanWarnings(
  workspace: LoadedWorkspace,
  store: Store,
  recorded: RecordedState,
): Promise<string[]> {
  if (recorded.size > 0) return []
  const { id, service } = workspace.config
  const others = await store.listOtherAddresses()
  const elsewhere =
    others.length === 0
      ? ''
      : ` State recorded for ${others.join(', ')} is not used here. If this service already has ` +
        'the configuration, "edgewise import" records it first.'
  const missing = (await store.explainMissing?.()) ?? null
  const fork =
    missing === null
      ? ''
      : ` ${missing.charAt(0).toUpperCase()}${missing.slice(1)}. A fork has none: add its ` +
        'upstream repository as a remote, and name that under "state.remote" in edgewise.yaml.'
  return [
    `Nothing is recorded yet for "${id}" at ${service.writtenUrl}: ` +
      `every managed item will be written.${elsewhere}${fork}`,
  ]
}
