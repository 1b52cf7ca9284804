import { catalogue } from '../catalog/catalogue.ts'
import { isAcceleratedDomain } from '../catalog/value/formats.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { compileDomainGlobs, findGlobFault, isTakingOut } from '../model/text/domain-glob.ts'
import { limitMatches } from '../model/input-limits.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { isConditional, nameChange, type Change } from '../model/change.ts'

/** The part of the workspace that a command applies to; empty lists select everything. */
export interface Selection {
  /**
   * Globs over domain names, e.g. `*.example.com` or `{www,api}.example.com`; the last one that
   * matches decides, and one after `!` takes domains out.
   */
  target: string[]
  items: ItemKey[]
}

/**
 * Narrows a snapshot to a selection. Both inputs of a diff are narrowed, so that an unselected item
 * is never a change. Items that empty a selected item, or that it empties, are selected too.
 */
export function narrowSnapshot<T>(
  snapshot: ReadonlyMap<Domain, ReadonlyMap<ItemKey, T>>,
  selection: Selection,
): Map<Domain, Map<ItemKey, T>> {
  const items = addRelated(selection.items)
  const result = new Map<Domain, Map<ItemKey, T>>()
  for (const [domain, states] of narrowDomains(snapshot, selection.target))
    result.set(domain, new Map([...states].filter(([item]) => items.size === 0 || items.has(item))))
  return result
}

/** Narrows a snapshot to the domains that a list of globs selects; it shares their items. */
export function narrowDomains<Items>(
  snapshot: ReadonlyMap<Domain, Items>,
  target: string[],
): Map<Domain, Items> {
  if (target.length === 0) return new Map(snapshot)
  const isSelected = createDomainMatcher(target, snapshot.size)
  return new Map([...snapshot].filter(([domain]) => isSelected(domain)))
}

/** Advice about `--target`. */
export const globAdvice =
  'Globs match whole domain names, e.g. --target "*.example.com". Repeat --target for several.'
/** Maximum length of a glob; domain names have at most 253 characters. */
const maxGlobLength = 1000

/**
 * Creates a test for selected domains. Plain names, thousands in a saved plan, cost one look-up.
 *
 * @param domains number of the domains to test
 * @throws EdgewiseError `usage` for a glob with a fault, or too many globs for the domains
 */
function createDomainMatcher(target: string[], domains: number): (domain: Domain) => boolean {
  const names = new Set(
    target.filter((glob) => isAcceleratedDomain(glob)).map((name) => name.toLowerCase()),
  )
  const globs = target.filter((glob) => !isAcceleratedDomain(glob))
  if (globs.some((glob) => glob === '' || glob.length > maxGlobLength))
    throw new EdgewiseError(
      'usage',
      `expected a glob of 1 to ${maxGlobLength} characters as target`,
      globAdvice,
    )
  for (const glob of globs) {
    const fault = findGlobFault(glob)
    if (fault !== null)
      throw new EdgewiseError('usage', `the target "${glob}" is no glob: ${fault}`, globAdvice)
  }
  limitMatches('the target', globs, domains)
  // The order counts only where something is taken out.
  if (globs.some(isTakingOut)) return compileDomainGlobs(target)
  const matches = compileDomainGlobs(globs)
  return (domain) => names.has(domain) || matches(domain)
}

/**
 * Finds the globs and items of a selection that match nothing in any of the snapshots: an easy
 * mistake, also beside others that match.
 */
export function findUnmatched(
  snapshots: ReadonlyMap<Domain, ReadonlyMap<ItemKey, unknown>>[],
  { target, items }: Selection,
): Selection {
  if (target.length + items.length === 0) return { target, items }
  const domains = new Set(snapshots.flatMap((snapshot) => [...snapshot.keys()]))
  const globs = target.filter((glob) => !isAcceleratedDomain(glob))
  limitMatches('the target', globs, domains.size)
  const matchesAny = (pattern: string) => {
    const glob = isTakingOut(pattern) ? pattern.slice(1) : pattern
    return isAcceleratedDomain(glob)
      ? domains.has(glob.toLowerCase())
      : [...domains].some(createDomainMatcher([glob], domains.size))
  }
  const selected =
    items.length === 0
      ? []
      : snapshots.flatMap((snapshot) => [...narrowDomains(snapshot, target).values()])
  return {
    target: target.filter((glob) => !matchesAny(glob)),
    items: items.filter((item) => !selected.some((states) => states.has(item))),
  }
}

function addRelated(items: ItemKey[]): Set<ItemKey> {
  const isSelected = new Set(items)
  for (const spec of catalogue.values()) {
    if (items.includes(spec.key)) for (const cleared of spec.clearedItems) isSelected.add(cleared)
    else if (spec.clearedItems.some((cleared) => items.includes(cleared))) isSelected.add(spec.key)
  }
  return isSelected
}

/**
 * Drops the conditional changes whose secrets do not differ; the others are changes like any other
 * from then on. An item that a dropped change would have emptied is released instead.
 */
export function settleConditional(
  changes: Change[],
  differs: (change: Change) => boolean,
): Change[] {
  const dropped = new Set(
    changes.filter((change) => isConditional(change) && !differs(change)).map(nameChange),
  )
  return changes.flatMap((change): Change[] => {
    const { by, ...rest } = change
    if (dropped.has(nameChange(change))) return []
    if (isConditional(change)) return [{ ...change, reason: 'differs' }]
    if (by === undefined || !dropped.has(nameChange({ ...change, item: by }))) return [change]
    return [{ ...rest, action: 'release', reason: 'differs' }]
  })
}
