import picomatch from 'picomatch'
import { catalogue } from '../catalog/catalogue.ts'
import { isDomain } from '../catalog/value/formats.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'

/** Which part of the workspace a command is about; empty lists choose everything. */
export interface Selection {
  /** Globs over domain names, e.g. `*.example.com` or `{www,api}.example.com`. */
  target: string[]
  items: ItemKey[]
}

/**
 * The part of a snapshot that is chosen. Both sides of a diff are narrowed before it is made, so
 * what is left out is never a change. Items that empty a chosen one, or that it empties, belong to
 * it.
 */
export function narrowSnapshot<Held>(
  snapshot: ReadonlyMap<Domain, ReadonlyMap<ItemKey, Held>>,
  selection: Selection,
): Map<Domain, Map<ItemKey, Held>> {
  const chosen = domainMatcher(selection.target)
  const items = withRelated(selection.items)
  const result = new Map<Domain, Map<ItemKey, Held>>()
  for (const [domain, held] of snapshot) {
    if (!chosen(domain)) continue
    result.set(domain, new Map([...held].filter(([item]) => items.size === 0 || items.has(item))))
  }
  return result
}

/**
 * Tests whether a domain is chosen. Plain names, of which a saved plan has thousands, cost one
 * look-up.
 */
function domainMatcher(target: string[]): (domain: Domain) => boolean {
  if (target.length === 0) return () => true
  const names = new Set(target.filter((glob) => isDomain(glob)).map((name) => name.toLowerCase()))
  const globs = target.filter((glob) => !isDomain(glob))
  const matches = globs.length === 0 ? () => false : picomatch(globs, { nocase: true, dot: true })
  return (domain) => names.has(domain) || matches(domain)
}

/** A snapshot narrowed to nothing is an easy mistake: whether any domain was chosen. */
export function selectsAny(snapshot: Snapshot, selection: Selection): boolean {
  return selection.target.length === 0 || narrowSnapshot(snapshot, selection).size > 0
}

function withRelated(items: ItemKey[]): Set<ItemKey> {
  const chosen = new Set(items)
  for (const spec of catalogue.values()) {
    if (items.includes(spec.key)) for (const cleared of spec.clearedItems) chosen.add(cleared)
    else if (spec.clearedItems.some((cleared) => items.includes(cleared))) chosen.add(spec.key)
  }
  return chosen
}
