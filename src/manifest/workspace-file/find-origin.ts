import {
  isObject,
  getOwn,
  formatPointerStep,
  parsePointer,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'
import { isPlainMapping } from '../manifests/merge.ts'
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
    const next =
      depth > 0 && parts.some(({ value }) => Array.isArray(getList(value)))
        ? findEntry(parts, Number(step))
        : findField(parts, step)
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
    const adds = isObject(value) && Object.hasOwn(value, '$append')
    const isMapping = isPlainMapping(value)
    if (!adds && !(isMapping && areMappings)) {
      found = []
      areMappings = true
    }
    areMappings &&= isMapping || value === null
    if (value !== null)
      found.push({ layer: part.layer, pointer: part.pointer + formatPointerStep(key), value })
  }
  return found
}

function findEntry(parts: Part[], index: number): Part[] {
  let start = 0
  for (const { layer, pointer, value } of parts) {
    const list = getList(value)
    if (!Array.isArray(list)) continue
    const entry = list[index - start]
    if (index - start < list.length && entry !== undefined) {
      return [
        {
          layer,
          pointer: `${pointer}${list === value ? '' : '/$append'}/${index - start}`,
          value: entry,
        },
      ]
    }
    start += list.length
  }
  return []
}

function getList(value: Json): Json | undefined {
  return isObject(value) ? getOwn(value, '$append') : value
}
