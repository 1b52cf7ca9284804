import { nameChange, type Change } from '../../core/model/change.ts'
import { formatJson } from '../../core/model/json.ts'
import type { Drift, DriftItem } from '../../core/model/drift.ts'
import type { Domain, ItemKey } from '../../core/model/item.ts'

/** What a drift check has found of a domain that it read. */
export interface EarlierRead {
  /** Ms since 1970. */
  atMs: number
  /** Items that were not simply verified, each with its change at the service, if it has one. */
  items: ReadonlyMap<ItemKey, { drifted: DriftItem; change: Change | undefined }>
}

/** Collects what a check has found of the domains that it read. */
export function collectReads(
  { items, live }: Pick<Drift, 'items' | 'live'>,
  isRead: (domain: Domain) => boolean,
  atMs: number,
): Map<Domain, EarlierRead> {
  const changes = new Map(live.map((change) => [nameChange(change), change]))
  const reads = new Map<Domain, EarlierRead & { items: Map<ItemKey, Found> }>()
  for (const drifted of items) {
    const { domain, item } = drifted
    if (!isRead(domain)) continue
    const own = reads.get(domain) ?? { atMs, items: new Map<ItemKey, Found>() }
    reads.set(domain, own)
    if (isVerified(drifted)) continue
    own.items.set(item, { drifted, change: changes.get(nameChange(drifted)) })
  }
  return reads
}

type Found = EarlierRead['items'] extends ReadonlyMap<ItemKey, infer T> ? T : never

/**
 * Adds to drift what earlier checks have found of domains: it counts unless the item was recorded
 * since.
 *
 * @param findRead returns undefined for a domain of which there is nothing to add
 */
export function addEarlierReads(
  drift: Drift,
  findRead: (domain: Domain) => EarlierRead | undefined,
): Drift {
  const added: Change[] = []
  const items = drift.items.map((each) => {
    const read = findRead(each.domain)
    if (read === undefined || !wasRead(each, read)) return each
    const known = read.items.get(each.item)
    if (known === undefined) return { ...each, confidence: 'verified' as const }
    if (known.change !== undefined) added.push(known.change)
    return takeOver(each, known.drifted)
  })
  return { ...drift, items, live: [...drift.live, ...added] }
}

/**
 * Dates each difference at the service: as the check before did if it had it, too, unless the item
 * was recorded since.
 *
 * @param earlier what {@link formatCheck} made of that check; undefined without one
 */
export function dateDrift(drift: Drift, earlier: string | undefined, at: string): Drift {
  const reads = earlier === undefined ? null : parseCheck(earlier).reads
  const items = drift.items.map((each) => {
    if (!each.kinds.includes('live')) return each
    const { since = at } = reads?.get(each.domain)?.items.get(each.item)?.drifted ?? {}
    const isNew = Date.parse(each.recordedAt ?? since) > Date.parse(since)
    return { ...each, since: isNew ? at : since }
  })
  return { ...drift, items }
}

/** Formats what a check has found at a time as a line of JSON, for another process. */
export function formatCheck({ items, live }: Pick<Drift, 'items' | 'live'>, atMs: number): string {
  const observed = new Set(items.flatMap((each) => (wasObserved(each) ? [each.domain] : [])))
  const reads = collectReads({ items, live }, (domain) => observed.has(domain), atMs)
  const domains = Array.from(reads, ([domain, read]) => [domain, [...read.items]])
  return formatJson({ atMs, domains })
}

/** Parses what {@link formatCheck} made. */
export function parseCheck(text: string): { atMs: number; reads: Map<Domain, EarlierRead> } {
  const { atMs, domains } = JSON.parse(text) as {
    atMs: number
    domains: [Domain, [ItemKey, Found][]][]
  }
  return {
    atMs,
    reads: new Map(domains.map(([domain, items]) => [domain, { atMs, items: new Map(items) }])),
  }
}

/** Tests whether anything of an item was observed. */
function wasObserved({ confidence, kinds, notVerifiable, unreadable }: DriftItem): boolean {
  return (
    confidence === 'verified' ||
    kinds.includes('live') ||
    notVerifiable.length > 0 ||
    unreadable !== undefined
  )
}

/** Tests whether an item was observed, with nothing to remember of it. */
function isVerified({ confidence, kinds, notVerifiable, ignored }: DriftItem): boolean {
  const isLive = kinds.includes('live')
  return confidence === 'verified' && !isLive && notVerifiable.length === 0 && ignored === undefined
}

/** Tests whether the state of an item is the one that was compared when its domain was read. */
function wasRead({ confidence, recordedAt }: DriftItem, { atMs }: EarlierRead): boolean {
  return confidence !== 'in-doubt' && recordedAt !== null && Date.parse(recordedAt) <= atMs
}

/** Gives an item what an earlier check has found at the service. */
function takeOver(now: DriftItem, earlier: DriftItem): DriftItem {
  const pending = now.kinds.filter((kind) => kind !== 'live')
  const kinds: DriftItem['kinds'] = earlier.kinds.includes('live') ? [...pending, 'live'] : pending
  const { live, notVerifiable, confidence, unreadable, ignored, since } = earlier
  return { ...now, kinds, live, notVerifiable, confidence, unreadable, ignored, since }
}
