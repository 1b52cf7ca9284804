import { maxSkewMs } from '../apply/earlier-calls.ts'
import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import { findSecretFields } from '../catalog/parse-item.ts'
import { findItemByWireName } from '../catalog/wire-names.ts'
import { formatCache, hashText, splitCache } from '../manifest/cache/cache-file.ts'
import type { Domain } from '../model/item.ts'
import { isObject, parseJson, type JsonObject } from '../model/json.ts'
import type { StoredConfig } from '../service/query/read-back.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Outside } from './outside.ts'

/** Age from which what was read counts as old, ms. */
const maxAgeMs = 3_600_000

/** What an interrupted import has read, so that the next one need not read it again. */
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
  { root, config: { service } }: Pick<LoadedWorkspace, 'root' | 'config'>,
  { cache, clock }: Pick<Outside, 'cache' | 'clock'>,
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
