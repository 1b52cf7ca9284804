import type { Settings, Configured, Outside } from '../runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { QueryClient } from '../../service/query/query-client.ts'
import { withQueries } from '../runtime/connect.ts'

/** Managed items by domain. */
export type Managed = ReadonlyMap<Domain, Iterable<ItemKey>>

/**
 * Reads the stored configuration of the managed domains back from the service, `{domain: {item:
 * payload}}`. A managed item that the service does not have is null; a domain that it does not
 * have is absent.
 *
 * @throws EdgewiseError `usage` without `service.readBack`, `access` when there is no token, and
 * the errors of the queries
 */
export async function observeLive(
  workspace: Settings,
  managed: Managed,
  outside: Outside,
): Promise<JsonObject> {
  refuseWithoutReadBack(workspace)
  return withQueries(workspace, { outside }, (queries) =>
    readManaged(workspace, queries, managed, outside),
  )
}

/** Reads like `observeLive`, at the pace of earlier reads with the same client. */
export async function readManaged(
  { config }: Configured,
  queries: QueryClient,
  managed: Managed,
  { onPhase }: Outside,
): Promise<JsonObject> {
  const { itemKeys } = config.service
  const total = managed.size
  const data: JsonObject = {}
  let done = 0
  const report = () => onPhase?.({ name: 'reading-service', done, total })
  report()
  for await (const batch of queries.queryConfigs([...managed.keys()]))
    for (const { domain, config: stored } of batch.results) {
      const items = [...(managed.get(domain) ?? [])]
      const unset = items.map((item) => [itemKeys[item] ?? item, null] as const)
      data[domain] = { ...Object.fromEntries(unset), ...stored }
      done++
      report()
    }
  return data
}

/**
 * Creates the observation of a request that reads the service back.
 *
 * @throws EdgewiseError `usage` if the workspace does not use read-back
 */
export function readBack(workspace: Settings, outside: Outside) {
  refuseWithoutReadBack(workspace)
  const observe = (managed: Managed) => observeLive(workspace, managed, outside)
  return { observe, observesAll: true }
}

/** @throws EdgewiseError `usage` if the workspace does not use read-back */
export function refuseWithoutReadBack({ config }: Configured): void {
  if (config.service.readBack) return
  throw new EdgewiseError(
    'usage',
    'the service can only be read where the account offers it, and service.readBack is off',
    'If the account offers GET /domain/config, set "service: {readBack: true}" in edgewise.yaml.',
  )
}
