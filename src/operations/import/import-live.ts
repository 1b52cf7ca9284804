import type { Desired, Configured, Settings, Outside } from '../runtime/parts.ts'
import { maxSkewMs } from '../../engine/apply/earlier-calls.ts'
import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import { findSecretFields } from '../../core/catalog/parse-item.ts'
import { isAcceleratedDomain } from '../../core/catalog/value/formats.ts'
import { listUnordered } from '../../core/catalog/items/head-control.ts'
import { findItemByWireName, getWireName } from '../../core/catalog/wire-names.ts'
import { formatCache, hashText, splitCache } from '../../manifest/manifests/cache/manifest-cache.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { type JsonObject, getOwn, isObject, parseJson } from '../../core/model/json.ts'
import { append, addUp } from '../../core/model/lists.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import { withQueries } from '../runtime/connect.ts'
import { type ImportRequest, type Imported, importConfig } from '../import.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'
import { refuseWithoutReadBack } from '../observation/observe-live.ts'
import { loadState } from '../runtime/open-state.ts'
import type { Ports } from '../runtime/ports.ts'
import { refuseInvalid } from '../runtime/refuse-invalid.ts'
import { narrowDomains } from '../../core/plan/selection.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { QueryClient } from '../../service/query/query-client.ts'
import type { StoredConfig } from '../../service/query/read-back.ts'
import type { RecordedState } from '../../state/store/store.ts'

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
  refuseInvalid(workspace, 'the manifests have errors; nothing was recorded')
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
  const data = Array.from(configs, ([domain, config]) => ({
    domain,
    config: { ...listWantedUnset(workspace, domain), ...config },
  }))
  const text = JSON.stringify({ data: data.toSorted((a, b) => (a.domain < b.domain ? -1 : 1)) })
  const numbersRules =
    request.writeManifests === true && (await asksForOrders(workspace, configs, dialogue))
  const source = { name: 'GET /domain/config', text, skipsInvalid: true, numbersRules }
  const imported = await importConfig(workspace, { ...request, sources: [source] }, ports)
  cache.clear()
  return imported
}

/** Lists the items that manifests unset as not set: a query leaves such items out. */
function listWantedUnset(
  { desired, config: { service } }: Desired & Configured,
  domain: Domain,
): JsonObject {
  const unset = [...(desired.get(domain) ?? [])].filter(([, { status }]) => status === 'unset')
  return Object.fromEntries(unset.map(([item]) => [getWireName(item, service.itemKeys), null]))
}

/**
 * Asks once whether to number the header rules of domains without a manifest, whose order a query
 * does not show. Without an answer they are left out.
 */
async function asksForOrders(
  { desired, config }: Desired & Configured,
  configs: ReadonlyMap<Domain, JsonObject>,
  { confirm }: Ports['dialogue'],
): Promise<boolean> {
  const name = getWireName('head_control', config.service.itemKeys)
  const counts = [...configs].flatMap(([domain, items]) => {
    const value = desired.has(domain) ? undefined : getOwn(items, name)
    const { length } = listUnordered(value ?? null)
    return length === 0 ? [] : [length]
  })
  if (counts.length === 0) return false
  const rules = addUp(counts)
  try {
    return await confirm({ kind: 'number', rules, domains: counts.length })
  } catch (error) {
    if (error instanceof EdgewiseError && error.code === 'declined') return false
    throw error
  }
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
  { desired }: Desired,
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

/** Age from which what was read counts as old, ms. */
const maxAgeMs = 3_600_000

/** Configurations that an interrupted import has read, and that the next one need not read. */
export interface ReadCache {
  /** Configurations that were read within the last hour, and after all that is recorded of them. */
  load(recorded: RecordedState): Map<Domain, JsonObject>
  /** Keeps configurations, except those with a secret, for the next import. */
  save(configs: StoredConfig[]): void
  /** Forgets everything. */
  clear(): void
}

/** Opens the cache of the reads of a workspace; without a cache of the user it keeps nothing. */
export function openReadCache(
  { root, config: { service } }: Settings,
  { cache, clock }: Outside,
): ReadCache {
  const file = cache?.open(root, 'reads') ?? null
  const key = hashText(JSON.stringify([service.url, service.account, service.itemKeys]))
  const entries = new Map<Domain, { at: number; config: JsonObject }>()
  return {
    load: (recorded) => {
      const since = clock.now() - maxAgeMs
      // An apply may have changed what was read before it, on a machine whose clock is behind.
      const isCurrent = (domain: Domain, at: number) =>
        at > since &&
        [...(recorded.get(domain)?.values() ?? [])].every(
          (item) => Date.parse(item.at) < at - maxSkewMs,
        )
      for (const line of splitCache(key, file?.load() ?? '') ?? []) {
        const entry = parseJson(line)
        if (!isObject(entry)) continue
        const { domain, at, config } = entry
        if (typeof domain !== 'string' || typeof at !== 'number' || !isObject(config)) continue
        if (isCurrent(domain, at)) entries.set(domain, { at, config })
      }
      return new Map([...entries].map(([domain, { config }]) => [domain, config]))
    },
    save: (configs) => {
      const at = clock.now()
      for (const { domain, config } of configs)
        if (!hasSecret(config, service.itemKeys)) entries.set(domain, { at, config })
      const lines = [...entries].map(([domain, entry]) => ({ domain, ...entry }))
      file?.save(formatCache(key, lines))
    },
    clear: () => file?.save(formatCache(key, [])),
  }
}

/** Tests whether a configuration has a secret, or an item that is not known and may have one. */
function hasSecret(config: JsonObject, itemKeys: Record<string, string>): boolean {
  return Object.entries(config).some(([name, payload]) => {
    const item = findItemByWireName(name, payload, itemKeys, []) ?? name
    return !catalogue.has(item) || findSecretFields(getItemSpec(item), payload).length > 0
  })
}
