import {
  isObject,
  getOwn,
  formatPointerStep,
  parsePointer,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'
import { isAddition, isPlainMapping } from '../manifests/merge.ts'
import type { YamlDocument } from '../yaml/yaml-file.ts'

/** A configuration that is merged over the layers before it. */
export interface Layer {
  config: JsonObject
  document: YamlDocument
  /** Pointer of `config` in the document. */
  base: '/config' | '/defaults'
  /**
   * Name of the profile, and the index of the entry in the manifest's `profiles` that includes it.
   */
  profile?: { name: string; entry: number }
}

/** Source of a part of the merged value. */
export interface Origin {
  layer: Layer
  /** Pointer within the layer's config. */
  pointer: string
}

interface Part extends Origin {
  value: Json
}

/**
 * Finds the topmost layer that a part of the merged configuration comes from. `pointer` is within
 * the merged value. A missing part has the origin of its nearest existing parent. Null if no layer
 * sets anything.
 */
export function findOrigin(layers: Layer[], pointer: string): Origin | null {
  let parts: Part[] = layers.map((layer) => ({ layer, pointer: '', value: layer.config }))
  for (const [depth, step] of parsePointer(pointer).entries()) {
    // A configuration is a mapping of items, even with a misplaced "$append" among them.
    const lists = depth > 0 ? orderLists(parts) : []
    const next = lists.length > 0 ? findEntry(lists, Number(step)) : findField(parts, step)
    if (next.length === 0) break
    parts = next
  }
  return parts.at(-1) ?? null
}

function findField(parts: Part[], key: string): Part[] {
  let found: Part[] = []
  let areMappings = true
  for (const part of parts) {
    const value = isObject(part.value) ? getOwn(part.value, key) : undefined
    if (value === undefined) continue
    const isMapping = isPlainMapping(value)
    if (!isAddition(value) && !(isMapping && areMappings)) {
      found = []
      areMappings = true
    }
    areMappings &&= isMapping || value === null
    if (value !== null)
      found.push({ layer: part.layer, pointer: part.pointer + formatPointerStep(key), value })
  }
  return found
}

/** Lists the lists of parts in the order of their entries: the last one prepends the first. */
function orderLists(parts: Part[]): Part[] {
  return parts.reduce<Part[]>((lists, part) => {
    const own = (key: string): Part[] => {
      const value = isObject(part.value) ? getOwn(part.value, key) : undefined
      return Array.isArray(value) ? [{ ...part, pointer: `${part.pointer}/${key}`, value }] : []
    }
    const whole = Array.isArray(part.value) ? [part] : []
    return [...own('$prepend'), ...lists, ...whole, ...own('$append')]
  }, [])
}

function findEntry(lists: Part[], index: number): Part[] {
  let start = 0
  for (const { layer, pointer, value } of lists) {
    const entries = value as Json[]
    const entry = entries[index - start]
    if (entry !== undefined)
      return [{ layer, pointer: `${pointer}/${index - start}`, value: entry }]
    start += entries.length
  }
  return []
}
