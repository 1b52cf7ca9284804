import { catalogue } from '../catalog/catalogue.ts'
import type { ImportedItem, Domain, ItemKey, Value } from '../model/item.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'
import { isPlainMapping } from './merge.ts'
import type { SecretVault } from './secret-vault.ts'
import type { Workspace } from './workspace.ts'

/** Configurations as manifests say them. */
export interface WrittenConfigs {
  configs: Map<Domain, JsonObject>
  /** Items that are left out, since they hold a secret that no manifest refers to. */
  omitted: { domain: Domain; item: ItemKey }[]
}

/**
 * Of each domain that no manifest declares, its items as one says them: secrets as the references
 * that they were made from.
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
    const written = asWritten(value, vault.listTemplates(value))
    if (written === null) omitted.push({ domain, item })
    else config[item] = written
  }
  return { configs, omitted }
}

/** A value as a manifest says it; null where it holds a secret that nothing is known of. */
function asWritten(value: Value, templates: Record<string, string>): Json {
  let lacking = false
  const visit = (at: Json): Json => {
    if (isSecret(at)) {
      const template = templates[at.$secret]
      if (template === undefined) lacking = true
      return template === undefined
        ? null
        : template.includes('${')
          ? template
          : `\${secret:${template}}`
    }
    // What looks like a reference was none.
    if (typeof at === 'string') return at.replaceAll('${', () => '$${')
    if (Array.isArray(at)) return at.map(visit)
    return isObject(at)
      ? Object.fromEntries(Object.entries(at).map(([key, field]) => [key, visit(field)]))
      : at
  }
  const written = visit(value)
  return lacking ? null : written
}

/**
 * A configuration that stays what it is over the workspace file's `defaults`: what these would add
 * is taken out again.
 *
 * @param open items of which nothing is said, so that `defaults` may
 */
export function overrideDefaults(
  defaults: JsonObject,
  config: JsonObject,
  open: ReadonlySet<ItemKey>,
): JsonObject {
  const gone = Object.keys(defaults).filter(
    (item) => !Object.hasOwn(config, item) && !open.has(item),
  )
  const over = Object.entries(config).map(([item, value]): [string, Json] => [
    item,
    laidOver(getOwn(defaults, item), value),
  ])
  return Object.fromEntries([...over, ...gone.map((item): [string, Json] => [item, null])])
}

function laidOver(below: Json | undefined, value: Json): Json {
  if (!isPlainMapping(below) || !isPlainMapping(value)) return value
  const gone = Object.keys(below).filter((field) => !Object.hasOwn(value, field))
  const over = Object.entries(value).map(([field, each]): [string, Json] => [
    field,
    laidOver(getOwn(below, field), each),
  ])
  return Object.fromEntries([...over, ...gone.map((field): [string, Json] => [field, null])])
}
