import { isAcceleratedDomain } from '../catalog/value/formats.ts'
import { append } from '../model/append.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { JsonObject } from '../model/json.ts'
import { listSome, pluralize } from '../model/words.ts'
import { narrowDomains } from '../plan/selection.ts'
import type { QueryClient } from '../service/query/query-client.ts'
import type { StoredConfig } from '../service/query/read-back.ts'
import { importConfig, refuseInvalid, type Imported, type ImportRequest } from './import.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { refuseWithoutReadBack } from './observe-live.ts'
import { loadState } from './open-state.ts'
import type { Ports } from './ports.ts'
import { openReadCache } from './read-cache.ts'
import { withQueries } from './with-queries.ts'

/** Options of an import from the service itself. */
export interface LiveImportRequest extends Omit<ImportRequest, 'sources' | 'domain'> {
  /** Globs and names of domains; empty for all. */
  target?: string[]
}

/** Number of domains after which what was read is kept for an import that resumes this one. */
const keptDomains = 200

/**
 * Reads the configuration of domains back from the service and records it, like an import of files:
 * those of the manifests, and with `writeManifests` all domains of the account. An import that was
 * interrupted is resumed: what it has read in the last hour is not read again.
 *
 * @throws EdgewiseError `usage` without `service.readBack` or when nothing is selected, the errors
 * of the queries, and as `importConfig`
 */
export async function importLive(
  workspace: LoadedWorkspace,
  { target = [], ...request }: LiveImportRequest,
  ports: Ports,
): Promise<Imported> {
  const { outside, dialogue } = ports
  refuseWithoutReadBack(workspace)
  refuseInvalid(workspace)
  const cache = openReadCache(workspace, outside)
  const { recorded } = await loadState(workspace, outside)
  const known = cache.load(recorded)
  const configs = await withQueries(workspace, { outside }, async (queries) => {
    const domains = await chooseDomains(workspace, queries, target, {
      listsAll: request.writeManifests === true,
      warn: (text) => dialogue.warn(text),
    })
    const resumed = domains.filter((domain) => known.has(domain))
    if (resumed.length > 0)
      dialogue.note(
        `Resumed: ${pluralize(resumed.length, 'domain was', 'domains were')} read within the ` +
          'last hour (--no-cache reads them again).',
      )
    const fresh = await readAll(queries, domains, known, ports, (read) => cache.save(read))
    return new Map([
      ...resumed.map((domain) => [domain, known.get(domain) ?? {}] as const),
      ...fresh,
    ])
  })
  const data = Array.from(configs, ([domain, config]) => ({ domain, config }))
  const text = JSON.stringify({ data: data.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)) })
  const source = { name: 'GET /domain/config', text, skipsInvalid: true }
  const imported = await importConfig(workspace, { ...request, sources: [source] }, ports)
  cache.clear()
  return imported
}

/**
 * Reads the configurations that are not read yet.
 *
 * @param keep called with what was read, also before a failure
 */
async function readAll(
  queries: QueryClient,
  domains: Domain[],
  read: ReadonlyMap<Domain, JsonObject>,
  { outside: { onPhase }, dialogue }: Ports,
  keep: (configs: StoredConfig[]) => void,
): Promise<Map<Domain, JsonObject>> {
  const missing = new Set(domains.filter((domain) => !read.has(domain)))
  const found = new Map<Domain, JsonObject>()
  let unsaved: StoredConfig[] = []
  const report = () =>
    onPhase?.({
      name: 'reading-service',
      done: domains.length - missing.size,
      total: domains.length,
    })
  report()
  try {
    for await (const { results } of queries.queryConfigs([...missing])) {
      for (const each of results) {
        found.set(each.domain, each.config)
        missing.delete(each.domain)
      }
      append(unsaved, results)
      report()
      if (unsaved.length >= keptDomains) keep(unsaved.splice(0))
    }
  } finally {
    if (unsaved.length > 0) keep(unsaved)
  }
  if (missing.size > 0)
    dialogue.warn(`The service has no configuration of ${listSome([...missing])}.`)
  return found
}

/** @throws EdgewiseError `usage` when nothing is selected */
async function chooseDomains(
  { desired }: LoadedWorkspace,
  queries: QueryClient,
  target: string[],
  { listsAll, warn }: { listsAll: boolean; warn(text: string): void },
): Promise<Domain[]> {
  const named = target.filter((glob) => isAcceleratedDomain(glob)).map((name) => name.toLowerCase())
  const needsList = listsAll && (target.length === 0 || named.length < target.length)
  const listed = needsList ? await listAll(queries, warn) : []
  const all = new Set([...desired.keys(), ...listed, ...named])
  const selected = [...narrowDomains(new Map([...all].map((each) => [each, null])), target).keys()]
  if (selected.length > 0) return selected.toSorted()
  throw new EdgewiseError(
    'usage',
    target.length === 0 ? 'no manifest declares a domain' : 'no domain matches --target',
    'Pass --write-manifests for all domains of the account, or name some with --target.',
  )
}

/** Lists the domains of the account that can be managed, and warns of what the list lacks. */
async function listAll(queries: QueryClient, warn: (text: string) => void): Promise<Domain[]> {
  const { domains, total } = await queries.listDomains()
  if (domains.length < total)
    warn(`The service counts ${total} domains, and lists ${domains.length}: some may be missing.`)
  const present = domains.flatMap(({ domain, status }) => (status === 'deleted' ? [] : [domain]))
  const others = present.filter((domain) => !isAcceleratedDomain(domain))
  if (others.length > 0)
    warn(`Edgewise can't manage ${escapeInvisible(listSome(others))}: not imported.`)
  return present.filter((domain) => isAcceleratedDomain(domain))
}
