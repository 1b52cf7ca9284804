import { catalogue } from '../../core/catalog/catalogue.ts'
import { findFieldSchema, getAnnotations } from '../../core/catalog/value/item-schema.ts'
import {
  formatPointerStep,
  parsePointer,
  resolvePointer,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'
import type { SecretKeeper } from '../../core/model/secret.ts'
import { findOrigin, type Layer } from '../workspace-file/find-origin.ts'
import { createMergeFinding } from './manifest-diagnostics.ts'
import { ItemCache } from './item-cache.ts'
import { mergeOver, type MergeFault } from './merge.ts'
import { parseConfig, type ConfigContext, type ConfigFinding } from './parse-config.ts'

/** Stands for any domain and any variable; findings at such values are dropped. */
const placeholder = 'www.example.com'

/** Seals every secret the same: the check of a profile looks no value up. */
const blindKeeper: SecretKeeper = {
  maskTemplate: () => ({ $secret: 'unresolved:profile' }),
  maskLiteral: () => ({ $secret: 'unresolved:profile' }),
  occursIn: () => false,
}

/**
 * Finds the problems of a profile, or of the defaults, that no manifest can mend by adding to it.
 * Not checked: missing fields, rules between fields or items, values with variables.
 *
 * @returns findings with pointers within the layer's config
 */
export function checkProfile(layer: Layer, context: ConfigContext): ConfigFinding[] {
  const faults: MergeFault[] = []
  const config = mergeOver({}, layer.config, faults)
  const unmerged = faults.map(createMergeFinding)
  const references = findOpenReferences(config)
  const { findings } = parseConfig(
    config,
    placeholder,
    new Map(references.flatMap(({ names }) => names.map((name) => [name, placeholder]))),
    { ...context, keeper: blindKeeper, itemCache: new ItemCache(), partial: true },
  )
  const certain = findings.filter(
    (finding) =>
      !unmerged.some(({ item }) => item === finding.item) &&
      (finding.part === 'key' ||
        !references.some(({ pointer }) => isRelated(pointer, finding.pointer))) &&
      isCertain(finding, config),
  )
  return [
    ...unmerged,
    ...certain.map((finding) => ({
      ...finding,
      pointer: findOrigin([layer], finding.pointer)?.pointer ?? finding.pointer,
    })),
  ]
}

/** Finds the texts that contain the domain or a variable, which a manifest supplies. */
export function findOpenReferences(
  value: Json,
  pointer = '',
): { pointer: string; names: string[] }[] {
  if (typeof value === 'string') {
    const found = [...value.matchAll(/\$\$\{|\$\{(?:domain|var:([^{}]*))\}/g)].filter(
      ([text]) => text !== '$${',
    )
    return found.length === 0 ? [] : [{ pointer, names: found.map(([, name = '']) => name) }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    findOpenReferences(inner, pointer + formatPointerStep(key)),
  )
}

function isRelated(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
}

/** Tests whether no value beside or below the place of a finding could change it. */
function isCertain(finding: ConfigFinding, config: JsonObject): boolean {
  const [item = '', ...steps] = parsePointer(finding.pointer)
  // Entries of lists are not merged.
  if (steps.some((step) => /^\d+$/.test(step))) return true
  const schema = findFieldSchema(catalogue.get(item)?.schema ?? {}, steps) ?? {}
  const value = resolvePointer(config, finding.pointer)
  const { when, regexWhen, pathsWhen, emptyIsDefault } = getAnnotations(schema)
  const dependsOnSibling =
    when !== undefined ||
    regexWhen !== undefined ||
    pathsWhen !== undefined ||
    typeof emptyIsDefault === 'object'
  const isEmptyList = Array.isArray(value) && value.length === 0
  return finding.missing !== true && !dependsOnSibling && !isEmptyList
}
