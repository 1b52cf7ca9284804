import { getOrAdd } from '../../core/model/lists.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import type { ItemKey } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import type { ParsedState } from './parse-unset.ts'

/** Maximum length of a text to compare. A longer value is shared by its identity only. */
const maxText = 4_000

/** Parsed items by value: by its identity, since profiles share values, and by its JSON text. */
export class ItemCache {
  readonly #byObject = new Map<ItemKey, WeakMap<object, ParsedState>>()
  readonly #byText = new Map<ItemKey, Map<string, ParsedState>>()
  /** Numbers of values of shared objects that are parsed for each domain. */
  readonly #sizes = new WeakMap<object, number>()

  /**
   * Parses an item; a value that several domains have is parsed once. An item with a reference is
   * parsed for each domain.
   *
   * @param isShared whether other domains have this very object
   * @param parse gets the number of values if they are parsed for each of several domains, else 0
   */
  parse(
    spec: ItemSpec,
    raw: Json,
    isShared: boolean,
    parse: (size: number) => ParsedState,
  ): ParsedState {
    if (typeof raw === 'object' && raw !== null && this.#sizes.has(raw))
      return parse(this.#measure(raw))
    const byObject = getOrAdd(this.#byObject, spec.key, () => new WeakMap<object, ParsedState>())
    const object = isShared && typeof raw === 'object' ? raw : null
    const known = object === null ? undefined : byObject.get(object)
    if (known !== undefined) return known
    const text = JSON.stringify(raw)
    if (text.includes('${')) return parse(isShared ? this.#measure(raw) : 0)
    const byText = getOrAdd(this.#byText, spec.key, () => new Map<string, ParsedState>())
    const same = byText.get(text)
    const parsed = same ?? parse(0)
    const isLong = text.length > maxText
    if (same === undefined && !isLong) byText.set(text, parsed)
    // Most values occur once, and an entry by identity takes more time than the text.
    else if (object !== null) byObject.set(object, parsed)
    return parsed
  }

  #measure(raw: Json): number {
    if (typeof raw !== 'object' || raw === null) return 1
    return getOrAdd(this.#sizes, raw, () => countValues(raw))
  }
}

function countValues(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1)
}
