import { parsePointer } from '../model/json.ts'
import type { Domain, ImportedItem, ItemKey } from '../model/item.ts'
import { mapSecrets } from '../model/secret.ts'

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
