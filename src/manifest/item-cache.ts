import type { ItemSpec } from '../catalog/item-spec.ts'
import type { ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { ParsedState } from './parse-unset.ts'

/** Maximum length of a text to compare. A longer value is shared by its identity only. */
const maxText = 4_000

/** Parsed items by value: by its identity, since profiles share values, and by its JSON text. */
export class ItemCache {
  readonly #byObject = new Map<ItemKey, WeakMap<object, ParsedState>>()
  readonly #byText = new Map<ItemKey, Map<string, ParsedState>>()

  /**
   * Parses an item; a value that several domains have is parsed once. An item that depends on the
   * domain, by its check or by a reference, is parsed for each domain.
   *
   * @param isShared whether other domains have this very object
   */
  parse(spec: ItemSpec, raw: Json, isShared: boolean, parse: () => ParsedState): ParsedState {
    if (spec.dependsOnDomain) return parse()
    const byObject = getOrAdd(this.#byObject, spec.key, () => new WeakMap<object, ParsedState>())
    const object = isShared && typeof raw === 'object' ? raw : null
    const known = object === null ? undefined : byObject.get(object)
    if (known !== undefined) return known
    const text = JSON.stringify(raw)
    if (text.includes('${')) return parse()
    const byText = getOrAdd(this.#byText, spec.key, () => new Map<string, ParsedState>())
    const same = byText.get(text)
    const parsed = same ?? parse()
    const isLong = text.length > maxText
    if (same === undefined && !isLong) byText.set(text, parsed)
    // Most values occur once, and an entry by identity takes more time than the text.
    else if (object !== null) byObject.set(object, parsed)
    return parsed
  }
}

function getOrAdd<Key, Content>(map: Map<Key, Content>, key: Key, create: () => Content): Content {
  const content = map.get(key) ?? create()
  map.set(key, content)
  return content
}
