import {
  isObject,
  getOwn,
  formatPointerStep,
  parsePointer,
  type Json,
  type JsonObject,
} from '../model/json.ts'
import { isPlainMapping } from './merge.ts'
import type { YamlDocument } from './yaml-file.ts'

/** One configuration that is laid over those before it. */
export interface Layer {
  config: JsonObject
  document: YamlDocument
  /** Where `config` stands in the document. */
  base: '/config' | '/defaults'
  /** The profile that it is, and which entry of the manifest's `profiles` brought it. */
  profile?: { name: string; entry: number }
}

/** Where a part of the merged value was said. */
export interface Origin {
  layer: Layer
  /** Within the layer's config. */
  pointer: string
}

interface Part extends Origin {
  value: Json
}

/**
 * The uppermost layer that a part of the merged configuration comes from. `pointer` is within the
 * merged value; what does not exist there has the origin of the last step that does. Null when no
 * layer says anything.
 */
export function findOrigin(layers: Layer[], pointer: string): Origin | null {
  let parts: Part[] = layers.map((layer) => ({ layer, pointer: '', value: layer.config }))
  for (const [depth, step] of parsePointer(pointer).entries()) {
    // A configuration is a mapping of items, even where somebody wrote "$append" beside them.
    const next =
      depth > 0 && parts.some(({ value }) => Array.isArray(listIn(value)))
        ? entryOf(parts, Number(step))
        : fieldOf(parts, step)
    if (next.length === 0) break
    parts = next
  }
  return parts.at(-1) ?? null
}

function fieldOf(parts: Part[], key: string): Part[] {
  let found: Part[] = []
  for (const part of parts) {
    const value = isObject(part.value) ? getOwn(part.value, key) : undefined
    if (value === undefined) continue
    const adds = isObject(value) && Object.hasOwn(value, '$append')
    const merges = isPlainMapping(value) && found.every((below) => isPlainMapping(below.value))
    if (!adds && !merges) found = []
    if (value !== null)
      found.push({ layer: part.layer, pointer: part.pointer + formatPointerStep(key), value })
  }
  return found
}

function entryOf(parts: Part[], index: number): Part[] {
  let start = 0
  for (const { layer, pointer, value } of parts) {
    const list = listIn(value)
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

function listIn(value: Json): Json | undefined {
  return isObject(value) ? getOwn(value, '$append') : value
}
