import { getOrAdd } from '../../core/model/lists.ts'
import { dropFields } from '../../core/catalog/hidden-fields.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import type { ImportedItem, Domain, Value, ItemKey } from '../../core/model/item.ts'
import {
  mapParts,
  getOwn,
  type Json,
  type JsonObject,
  parsePointer,
} from '../../core/model/json.ts'
import { findTemplate, isSecret, mapSecrets } from '../../core/model/secret.ts'
import { isPlainMapping } from '../manifests/merge.ts'
import type { SecretVault } from '../secrets/secret-vault.ts'
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
  for (const { domain, item, value, ordered = value, unknownFields } of adopted) {
    if (desired.has(domain)) continue
    const config = getOrAdd(configs, domain, (): JsonObject => ({}))
    if (value === null) continue
    const known = dropUnknown(item, ordered, unknownFields)
    config[item] = formatValue(known, { ...names, ...vault.listTemplates(known) })
  }
  return configs
}

/** Drops the fields that were never shown, unless an item needs them. */
function dropUnknown(item: ItemKey, value: Value, unknownFields: string[] | undefined): Value {
  const known = dropFields(value, unknownFields)
  return parseItem(getItemSpec(item), known, 'manifest').value === null ? value : known
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
  return mapParts(value, '', (part) => formatValue(part, templates))
}

/**
 * Overrides the workspace file's `defaults`, so that merging them adds nothing to the
 * configuration.
 */
export function overrideDefaults(defaults: JsonObject, config: JsonObject): JsonObject {
  const dropped = Object.keys(defaults).filter((key) => !Object.hasOwn(config, key))
  const overridden = Object.entries(config).map(([key, value]): [string, Json] => [
    key,
    overrideValue(getOwn(defaults, key), value),
  ])
  return Object.fromEntries([...overridden, ...dropped.map((key): [string, Json] => [key, null])])
}

function overrideValue(below: Json | undefined, value: Json): Json {
  return isPlainMapping(below) && isPlainMapping(value) ? overrideDefaults(below, value) : value
}

/** A secret without a reference, with the name that it gets. */
export interface NewSecret {
  name: string
  /** Environment variable of its value. */
  variable: string
  /** As in the values. */
  secret: string
  uses: { domain: Domain; item: ItemKey }[]
}

/** Maximum length of a name in `edgewise.yaml`. */
const maxLength = 64
/** Leaves room for a number. */
const maxBase = 56

/**
 * Names the secrets of items, one name for each value: after the item and the field of its first
 * use. A value of one domain also has the domain in its name if other domains have other values.
 *
 * @param isKnown whether a secret has a reference already
 * @param isFree whether a name and a variable can be used for a secret
 */
export function nameSecrets(
  items: ImportedItem[],
  isKnown: (secret: string) => boolean,
  isFree: (name: string, variable: string, secret: string) => boolean,
): NewSecret[] {
  const found = new Map<string, { base: string; uses: NewSecret['uses'] }>()
  for (const { domain, item, value } of items) {
    mapSecrets(value, (secret, pointer) => {
      if (isKnown(secret)) return null
      const { base, uses } = found.get(secret) ?? { base: buildBase(item, pointer), uses: [] }
      const last = uses.at(-1)
      if (last?.domain !== domain || last.item !== item) uses.push({ domain, item })
      found.set(secret, { base, uses })
      return null
    })
  }
  const values = new Map<string, number>()
  for (const { base } of found.values()) values.set(base, (values.get(base) ?? 0) + 1)
  const taken = new Set<string>()
  return [...found].map(([secret, { base, uses }]) => {
    const [first] = uses
    const isOwn = new Set(uses.map(({ domain }) => domain)).size === 1
    const own = `${base}_${(first?.domain ?? '').replace(/[^a-z0-9]+/g, '_')}`
    const isLong = own.length > maxBase
    const wanted = isOwn && (values.get(base) ?? 0) > 1 && !isLong ? own : base
    for (let number = 1; ; number++) {
      const name = (number === 1 ? wanted : `${wanted}_${number}`).slice(0, maxLength)
      const variable = name.toUpperCase().replace(/[^A-Z0-9]/g, '_')
      if (taken.has(variable) || !isFree(name, variable, secret)) continue
      taken.add(variable)
      return { name, variable, secret, uses }
    }
  })
}

function buildBase(item: ItemKey, pointer: string): string {
  const field = parsePointer(pointer).findLast((step) => !/^\d+$/.test(step))
  const base = field === undefined ? item : `${item}_${field}`
  return base.replace(/[^A-Za-z0-9_]+/g, '_').slice(0, maxBase)
}
