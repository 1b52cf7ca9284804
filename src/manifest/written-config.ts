import { catalogue } from '../catalog/catalogue.ts'
import type { ImportedItem, Domain, Value } from '../model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import { findTemplate, isSecret } from '../model/secret.ts'
import { isPlainMapping } from './merge.ts'
import type { SecretVault } from './secret-vault.ts'
import type { Workspace } from './workspace.ts'

/**
 * Builds the configurations of the domains that no manifest declares, in the form of manifests,
 * with references in place of secrets.
 *
 * @param names names of secrets without a known reference
 */
export function buildConfigs(
  { desired, vault }: Workspace & { vault: SecretVault },
  adopted: ImportedItem[],
  names: Record<string, string>,
): Map<Domain, JsonObject> {
  const configs = new Map<Domain, JsonObject>()
  for (const { domain, item, value } of adopted) {
    if (desired.has(domain)) continue
    const config = configs.get(domain) ?? {}
    configs.set(domain, config)
    if (!catalogue.has(item)) continue
    config[item] = formatValue(value, { ...names, ...vault.listTemplates(value) })
  }
  return configs
}

/** Formats a value for a manifest. */
function formatValue(value: Value, templates: Record<string, string>): Json {
  if (isSecret(value)) {
    const template = findTemplate(templates, value.$secret)
    if (template === undefined) throw new TypeError('expected a reference of each secret')
    return template.includes('${') ? template : `\${secret:${template}}`
  }
  // This text is a literal, not a reference.
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map((entry) => formatValue(entry, templates))
  return isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, field]) => [key, formatValue(field, templates)]),
      )
    : value
}

/**
 * Overrides the workspace file's `defaults`, so that merging them adds nothing to the
 * configuration.
 */
export function overrideDefaults(defaults: JsonObject, config: JsonObject): JsonObject {
  const dropped = Object.keys(defaults).filter((item) => !Object.hasOwn(config, item))
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
