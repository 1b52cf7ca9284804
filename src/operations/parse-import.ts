import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { isImperative } from '../catalog/problems.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { isDomain } from '../catalog/value/formats.ts'
import { listRecordedSecrets, representSecretsIn, type Represent } from '../diff/known-secrets.ts'
import { describeProblem } from '../manifest/unreadable-value.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ImportedItem, Domain, ItemKey, ItemState } from '../model/item.ts'
import { isObject, getOwn, parseJson, type Json, type JsonObject } from '../model/json.ts'
import { holdsSecret } from '../model/secret.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** File to import: its name for messages, and its text. */
export interface ImportSource {
  name: string
  text: string
}

/**
 * Parses the items of an import file, in canonical form and without the values of secrets.
 *
 * @throws EdgewiseError `usage` when the file can't be imported
 */
export function parseImport(
  { name: path, text }: ImportSource,
  domain: string | undefined,
  workspace: LoadedWorkspace,
): ImportedItem[] {
  const fail = (why: string): never => {
    throw new EdgewiseError(
      'usage',
      `${path} can't be imported: ${why}`,
      'Expected {"<domain>": {"<item>": payload}}, or an answer of the service.',
    )
  }
  const data = parseJson(text) ?? fail('it is not JSON')
  const configs = isObject(data) ? extractConfigs(data, domain, fail) : fail('expected an object')
  const itemNames = new Map(
    Object.entries(workspace.config.service.itemKeys).map(([item, name]) => [name, item]),
  )
  return configs.flatMap(([name, config]) => {
    const lower = name.toLowerCase()
    if (!isDomain(lower)) fail(`"${workspace.scrub(name)}" is not a domain name`)
    return Object.entries(config).map(([wireName, payload]) =>
      parseImportedItem(lower, itemNames.get(wireName) ?? wireName, payload, workspace, fail),
    )
  })
}

function parseImportedItem(
  domain: Domain,
  item: ItemKey,
  observed: Json,
  workspace: LoadedWorkspace,
  fail: (why: string) => never,
): ImportedItem {
  // An item that the catalogue does not know can't be managed; it is skipped later.
  if (!catalogue.has(item)) return { domain, item, value: null }
  const spec = getItemSpec(item)
  const payload = restoreShape(spec, observed, workspace.desired.get(domain)?.get(item))
  const wire = parseItem(spec, payload, 'wire', domain)
  const models = workspace.desired.get(domain)?.get(item)?.candidates ?? []
  const problem = wire.problems.find(({ severity }) => severity === 'error')
  if (problem !== undefined) {
    const { vault } = workspace
    const { pointer, reason } = describeProblem(spec, problem, payload, domain, models, vault)
    fail(`${item} of ${domain} is not valid at ${pointer || '/'}: ${reason}`)
  }
  // The schema check above limits the nesting depth for this recursive check.
  const imperative = parseItem(spec, payload, 'manifest', domain).problems.find(isImperative)
  if (imperative !== undefined)
    fail(`${item} of ${domain} is an action, not configuration (${imperative.pointer})`)
  const value = spec.canonicalize(workspace.vault.mask(item, wire.payload, models))
  return { domain, item, value }
}

/**
 * Seals imported values at the places where recorded ones have a secret, in the form in which
 * recorded secrets can be compared with them.
 */
export function sealAsRecorded(
  imported: ImportedItem[],
  recorded: RecordedState,
  { vault }: Pick<LoadedWorkspace, 'vault'>,
): ImportedItem[] {
  const represent: Represent = (secret, known) => vault.represent(secret, known)
  return imported.map((entry) => {
    const { domain, item, value } = entry
    if (!catalogue.has(item)) return entry
    const state = recorded.get(domain)?.get(item)
    const sealed = vault.mask(item, value, state?.candidates ?? [])
    return holdsSecret(sealed)
      ? { ...entry, value: representSecretsIn(item, sealed, listRecordedSecrets(state), represent) }
      : entry
  })
}

/**
 * Converts a queried payload to the shape in which it is written. Of several values that come back
 * as the same payload the desired one counts; a field that is never shown stays missing.
 */
function restoreShape(spec: ItemSpec, observed: Json, desired: ItemState | undefined): Json {
  const { payload, notVerifiable } = spec.observe(desired?.candidates[0], observed)
  return notVerifiable.length === 0 ? payload : spec.observe(undefined, observed).payload
}

function extractConfigs(
  data: JsonObject,
  domain: string | undefined,
  fail: (why: string) => never,
): [string, JsonObject][] {
  const inner = getOwn(data, 'data')
  if (Array.isArray(inner)) {
    return inner.map((entry) => {
      const found = isObject(entry) ? getOwn(entry, 'config') : undefined
      // An empty configuration comes back as an empty list.
      const config = Array.isArray(found) && found.length === 0 ? {} : found
      if (!isObject(entry) || typeof entry['domain'] !== 'string' || !isObject(config))
        return fail('expected "domain" and "config" in each entry of "data"')
      return [entry['domain'], config]
    })
  }
  if (isObject(inner) && isObject(inner['config'])) {
    const config = inner['config']
    const names =
      parseDomainNames(getOwn(inner, 'domains') ?? getOwn(data, 'domains')) ??
      (domain === undefined ? null : [domain])
    return (names ?? fail('the answer names no domain; pass --domain')).map((name) => [
      name,
      config,
    ])
  }
  return Object.entries(data).map(([name, config]) =>
    isObject(config) ? [name, config] : fail(`expected an object of items under "${name}"`),
  )
}

function parseDomainNames(value: Json | undefined): string[] | null {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim())
  if (!Array.isArray(value) || value.length === 0) return null
  return value.flatMap((entry) =>
    typeof entry === 'string'
      ? [entry]
      : isObject(entry) && typeof entry['domain'] === 'string'
        ? [entry['domain']]
        : [],
  )
}
