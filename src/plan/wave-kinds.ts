import type { Change, Write } from '../model/change.ts'
import type { Domain } from '../model/item.ts'

/** Domain → the kinds of its changes: an item and the shape of its edit. */
export type Kinds = ReadonlyMap<Domain, readonly string[]>

/** Segments of a path that count for the shape of an edit; those after them do not. */
const maxSegments = 2
/** Kinds that are named for a wave. */
const maxNamed = 5

/** Finds the kinds of changes that are written: two changes of one kind touch the same places. */
export function findKinds(changes: Change[]): Map<Domain, string[]> {
  const kinds = new Map<Domain, string[]>()
  for (const change of changes) {
    if (change.action === 'release' || change.reason === 'cleared') continue
    const own = kinds.get(change.domain)
    if (own === undefined) kinds.set(change.domain, [nameKind(change)])
    else own.push(nameKind(change))
  }
  return kinds
}

/** Names the kind of a change, such as "change origin (replace /list/*)". */
function nameKind({ action, item, patch }: Change): string {
  if (action !== 'change') return `${action} ${item}`
  const places = patch.map(({ op, path }) => {
    const segments = path.split('/').slice(1, 1 + maxSegments)
    return `${op} /${segments.map((segment) => (/^(\d+|-)$/.test(segment) ? '*' : segment)).join('/')}`
  })
  return `${action} ${item} (${[...new Set(places)].toSorted().join(', ')})`
}

/**
 * Chooses domains that have all kinds not tried yet, or as many as there is room for: each time the
 * first domain that adds most of them.
 */
export function choosePioneers(
  left: Domain[],
  room: number,
  kinds: Kinds,
  tried: ReadonlySet<string>,
): Domain[] {
  const seen = new Set(tried)
  const pioneers: Domain[] = []
  const countNew = (domain: Domain): number =>
    new Set((kinds.get(domain) ?? []).filter((kind) => !seen.has(kind))).size
  let able = left
  while (pioneers.length < room) {
    able = able.filter((domain) => countNew(domain) > 0)
    const [first, ...others] = able
    if (first === undefined) break
    let [best, most] = [first, countNew(first)]
    for (const domain of others) {
      const count = countNew(domain)
      if (count > most) [best, most] = [domain, count]
    }
    pioneers.push(best)
    for (const kind of kinds.get(best) ?? []) seen.add(kind)
  }
  return pioneers
}

/** Collects the kinds of some domains. */
export function collectKinds(domains: Iterable<Domain>, kinds: Kinds): Set<string> {
  const found = new Set<string>()
  for (const domain of domains) for (const kind of kinds.get(domain) ?? []) found.add(kind)
  return found
}

/**
 * Says for each wave which kinds of change it is the first to try; nothing where there is one kind.
 */
export function describeKinds(writes: Write[], kinds: Kinds): string[] {
  const tried = new Set<string>()
  const waves = new Map<number, Set<Domain>>()
  for (const { wave, domains } of writes) {
    const own = waves.get(wave) ?? new Set<Domain>()
    waves.set(wave, own)
    for (const domain of domains) own.add(domain)
  }
  if (waves.size < 2 || collectKinds(kinds.keys(), kinds).size < 2) return []
  return [...waves].flatMap(([wave, domains]) => {
    const fresh = [...collectKinds(domains, kinds)].filter((kind) => !tried.has(kind)).toSorted()
    for (const kind of fresh) tried.add(kind)
    if (fresh.length === 0) return []
    const more = fresh.length - maxNamed
    return [
      `wave ${wave} is the first to ${fresh.slice(0, maxNamed).join('; ')}${more > 0 ? `; and ${more} more kinds of change` : ''}`,
    ]
  })
}
