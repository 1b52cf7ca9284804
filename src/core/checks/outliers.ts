import { findHeaderCredentials } from '../catalog/header-credentials.ts'
import type { Domain, ItemKey, ItemState, Snapshot } from '../model/item.ts'
import { formatPointerStep, isObject, type Json } from '../model/json.ts'
import { append, groupBy, groupByEach, addUp, getOrAdd } from '../model/lists.ts'
import { holdsSecret, isSecret } from '../model/secret.ts'

/** Domains that are compared: those with a profile, or with the same items but for one. */
export type Alike = { by: 'profile'; profile: string } | { by: 'items' }

/** A value that nearly all of some domains have. Values are JSON, null for none. */
export interface Outlier {
  alike: Alike
  /** Number of the compared domains. */
  size: number
  item: ItemKey
  /** JSON pointer of a field of the item; empty for its whole value, null: whether it is set. */
  pointer: string | null
  usual: string | null
  /** Domains that differ, sorted. */
  domains: { domain: Domain; value: string | null }[]
}

/** Minimum number of domains that are compared. */
export const minAlike = 10
/** Maximum share of domains that differ; one always may. */
export const maxDiffering = 0.05

/** A feature of a domain: whether an item is set, or the value of a field. */
interface Feature {
  item: ItemKey
  pointer: string | null
}

/** Values of one domain by the key of the feature. */
type Values = ReadonlyMap<string, string>

/**
 * Finds values that differ from those of nearly all similar domains: of those with the same
 * profile, or with the same items. The strongest is first: the smallest share that differs, then
 * the largest group. An outlier without a new domain is left out. The name of a domain in its own
 * value counts as `${domain}`, and all secrets are equal.
 */
export function findOutliers(
  desired: Snapshot,
  listProfiles: (domain: Domain) => readonly string[],
): Outlier[] {
  const features = new Map<string, Feature>()
  const values = describeAll(desired, features)
  const names = [...desired.keys()].toSorted()
  const found: Outlier[] = []
  for (const [profile, domains] of groupByEach(names, (name) => new Set(listProfiles(name))))
    append(found, compare({ by: 'profile', profile }, domains, values, features))
  const formatItems = (items: Iterable<ItemKey>) => [...items].toSorted().join(' ')
  const sets = groupBy(names, (name) => formatItems(desired.get(name)?.keys() ?? []))
  for (const [key, domains] of sets) {
    append(found, compare({ by: 'items' }, domains, values, features))
    for (const item of key.split(' ')) {
      const others = sets.get(formatItems(key.split(' ').filter((each) => each !== item))) ?? []
      const both = [...domains, ...others].toSorted()
      const isSet = new Map([[item, { item, pointer: null }]])
      if (others.length > 0) append(found, compare({ by: 'items' }, both, values, isSet))
    }
  }
  return rank(found)
}

/** Lists the values of all domains, and collects their features. */
function describeAll(desired: Snapshot, features: Map<string, Feature>): Map<Domain, Values> {
  const known = new Map<ItemState, [string, string][]>()
  const all = new Map<Domain, Values>()
  for (const [domain, items] of desired) {
    const values = new Map<string, string>()
    for (const [item, state] of items) {
      for (const [key, text] of getOrAdd(known, state, () => describeState(item, state, features)))
        values.set(key, text.includes(domain) ? text.replaceAll(domain, '${domain}') : text)
    }
    all.set(domain, values)
  }
  return all
}

function describeState(
  item: ItemKey,
  { status, candidates: [value = null], unknownFields }: ItemState,
  features: Map<string, Feature>,
): [string, string][] {
  const add = (pointer: string | null, text: string): [string, string] => {
    const key = pointer === null ? item : `${item} ${pointer}`
    features.set(key, { item, pointer })
    return [key, text]
  }
  const isSet = add(null, status === 'unset' ? '"$unset"' : '"set"')
  const isKnown = status === 'confirmed' && (unknownFields ?? []).length === 0
  // A header's value may be a credential, which is not shown.
  if (!isKnown || findHeaderCredentials(value).length > 0) return [isSet]
  const isCompared: [string, string] = [nameCompared(item), '']
  if (!isObject(value) || isSecret(value)) return [isSet, isCompared, add('', formatJson(value))]
  return [
    isSet,
    isCompared,
    ...Object.entries(value).map(([field, each]) =>
      add(formatPointerStep(field), formatJson(each)),
    ),
  ]
}

/** Names the mark of a domain whose value of an item is compared. */
function nameCompared(item: ItemKey): string {
  return `${item} compared`
}

function formatJson(value: Json): string {
  if (!holdsSecret(value)) return JSON.stringify(value)
  return JSON.stringify(value, (_, each: unknown) => (isSecret(each) ? '(secret)' : each))
}

/** Compares domains, and lists the features that nearly all of them have in common. */
function compare(
  alike: Alike,
  domains: readonly Domain[],
  values: ReadonlyMap<Domain, Values>,
  features: ReadonlyMap<string, Feature>,
): Outlier[] {
  if (domains.length < minAlike) return []
  const counts = new Map<string, Map<string, number>>()
  for (const domain of domains)
    for (const [key, text] of values.get(domain) ?? []) {
      const known = getOrAdd(counts, key, () => new Map<string, number>())
      known.set(text, (known.get(text) ?? 0) + 1)
    }
  const add = (key: string) => addUp(counts.get(key)?.values() ?? [])
  return [...counts].flatMap(([key, texts]) => {
    const feature = features.get(key)
    if (feature === undefined) return []
    const { item, pointer } = feature
    // A field is compared among the domains whose value of its item is known, and may be shown.
    const compared = nameCompared(item)
    const size = pointer === null ? domains.length : add(compared)
    const all = [[null, size - add(key)] as const, ...texts]
    const [usual, count] = all.reduce((best, each) => (each[1] > best[1] ? each : best))
    if (size < minAlike || count === size) return []
    if (size - count > Math.max(1, size * maxDiffering)) return []
    const differing = domains.flatMap((domain) => {
      const own = values.get(domain)
      const value = own?.get(key) ?? null
      return value === usual || (pointer !== null && own?.has(compared) !== true)
        ? []
        : [{ domain, value }]
    })
    return [{ alike, size, item, pointer, usual, domains: differing }]
  })
}

/** Sorts outliers, and keeps each difference of a domain once. */
function rank(found: Outlier[]): Outlier[] {
  // Of two equal groups, the one of a profile is named.
  const key = ({ item, pointer, alike }: Outlier) =>
    JSON.stringify([item, pointer ?? '', alike.by !== 'profile', alike])
  const seen = new Set<string>()
  return found
    .toSorted(
      (a, b) =>
        a.domains.length / a.size - b.domains.length / b.size ||
        b.size - a.size ||
        (key(a) < key(b) ? -1 : 1),
    )
    .flatMap((each) => {
      const feature = `${each.item} ${each.pointer ?? '-'}`
      const names = each.domains.map(({ domain }) => `${feature} ${domain}`)
      const isNew = names.some((name) => !seen.has(name))
      for (const name of names) seen.add(name)
      return isNew ? [each] : []
    })
}
