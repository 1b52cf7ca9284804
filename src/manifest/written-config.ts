import { catalogue } from '../catalog/catalogue.ts'
import type { ImportedItem, Domain, ItemKey, Value } from '../model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'
import { isPlainMapping } from './merge.ts'
import type { SecretVault } from './secret-vault.ts'
import type { Workspace } from './workspace.ts'

/** Configurations in the form of manifests. */
export interface WrittenConfigs {
  configs: Map<Domain, JsonObject>
  /** Items that are omitted, since they contain a secret without a known reference. */
  omitted: { domain: Domain; item: ItemKey }[]
}

/**
 * Builds the configurations of the domains that no manifest declares, with references in place of
 * secrets.
 */
export function buildConfigs(
  { desired, vault }: Workspace & { vault: SecretVault },
  adopted: ImportedItem[],
): WrittenConfigs {
  const configs = new Map<Domain, JsonObject>()
  const omitted: WrittenConfigs['omitted'] = []
  for (const { domain, item, value } of adopted) {
    if (desired.has(domain)) continue
    const config = configs.get(domain) ?? {}
    configs.set(domain, config)
    if (!catalogue.has(item)) continue
    const written = formatValue(value, vault.listTemplates(value))
    if (written === null) omitted.push({ domain, item })
    else config[item] = written
  }
  return { configs, omitted }
}

/** Formats a value for a manifest; null if it contains a secret without a known reference. */
function formatValue(value: Value, templates: Record<string, string>): Json {
  let isOmitted = false
  const formatNode = (node: Json): Json => {
    if (isSecret(node)) {
      const template = templates[node.$secret]
      if (template === undefined) isOmitted = true
      return template === undefined
        ? null
        : template.includes('${')
          ? template
          : `\${secret:${template}}`
    }
    // This text is a literal, not a reference.
    if (typeof node === 'string') return node.replaceAll('${', () => '$${')
    if (Array.isArray(node)) return node.map(formatNode)
    return isObject(node)
      ? Object.fromEntries(Object.entries(node).map(([key, field]) => [key, formatNode(field)]))
      : node
  }
  const written = formatNode(value)
  return isOmitted ? null : written
}

/**
 * Overrides the workspace file's `defaults`, so that merging them adds nothing to the
 * configuration.
 *
 * @param inherited items that may come from `defaults`
 */
export function overrideDefaults(
  defaults: JsonObject,
  config: JsonObject,
  inherited: ReadonlySet<ItemKey>,
): JsonObject {
  const dropped = Object.keys(defaults).filter(
    (item) => !Object.hasOwn(config, item) && !inherited.has(item),
  )
  const overridden = Object.entries(config).map(([item, value]): [string, Json] => [
    item,
    overrideValue(getOwn(defaults, item), value),
  ])
  return Object.fromEntries([...overridden, ...dropped.map((item): [string, Json] => [item, null])])
}

function overrideValue(below: Json | undefined, value: Json): Json {
  if (!isPlainMapping(below) || !isPlainMapping(value)) return value
  const dropped = Object.keys(below).filter((field) => !Object.hasOwn(value, field))
  const overridden = Object.entries(value).map(([field, each]): [string, Json] => [
    field,
    overrideValue(getOwn(below, field), each),
  ])
  return Object.fromEntries([
    ...overridden,
    ...dropped.map((field): [string, Json] => [field, null]),
  ])
}
