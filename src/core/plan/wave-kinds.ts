import type { Change, Write } from '../model/change.ts'
import { groupBy, addUp } from '../model/lists.ts'
import type { Domain } from '../model/item.ts'
import type { PlanWave } from '../model/plan.ts'
import { pluralize } from '../model/text/words.ts'
import { MaxHeap } from './cover/max-heap.ts'

/** Domain → the kinds of its changes: an item and the shape of its edit. */
export type Kinds = ReadonlyMap<Domain, readonly string[]>

/** Number of leading path segments that make the shape of an edit. */
const maxSegments = 2
/** Maximum number of kinds that are named for a wave. */
const maxNamed = 5

/** Finds the kinds of the written changes; changes of one kind edit the same paths of an item. */
export function findKinds(changes: Change[]): Map<Domain, string[]> {
  const written = changes.filter(
    ({ action, reason }) => action !== 'release' && reason !== 'cleared',
  )
  const byDomain = groupBy(written, ({ domain }) => domain)
  return new Map([...byDomain].map(([domain, own]) => [domain, own.map(nameKind)]))
}

/** Names the kind of a change, such as "change origin (replace /list/*)". */
function nameKind({ action, item, patch }: Change): string {
  if (action !== 'change') return `${action} ${item}`
  const places = patch.map(({ op, path }) => {
    const segments = path.split('/').slice(1, 1 + maxSegments)
    const shape = segments.map((segment) => (/^(\d+|-)$/.test(segment) ? '*' : segment))
    return `${op} /${shape.join('/')}`
  })
  return `${action} ${item} (${[...new Set(places)].toSorted().join(', ')})`
}

/**
 * Chooses domains that cover the kinds not tried yet, greedily and as far as there is room: the
 * next domain is the first that adds most kinds. A domain whose kinds the others have makes room
 * for another one.
 */
export function choosePioneers(
  left: Domain[],
  room: number,
  kinds: Kinds,
  tried: ReadonlySet<string>,
): Domain[] {
  const untried = left.map((domain) => [
    ...new Set((kinds.get(domain) ?? []).filter((kind) => !tried.has(kind))),
  ])
  /** Kind → number of pioneers that have it. */
  const holders = new Map<string, number>()
  const count = (pioneer: number, change: number): void => {
    for (const kind of untried[pioneer] ?? []) holders.set(kind, (holders.get(kind) ?? 0) + change)
  }
  const countNew = (i: number): number =>
    (untried[i] ?? []).filter((kind) => !holders.has(kind)).length
  const queue = new MaxHeap()
  for (const i of left.keys()) if (countNew(i) > 0) queue.push(i, countNew(i))
  const pioneers = new Set<number>()
  while (room > 0) {
    const known = queue.maxPriority()
    const next = queue.pop()
    if (next === undefined) break
    const added = countNew(next)
    if (added < (known ?? 0)) {
      if (added > 0) queue.push(next, added)
      continue
    }
    if (pioneers.size === room) {
      const spare = [...pioneers].find((pioneer) =>
        (untried[pioneer] ?? []).every((kind) => (holders.get(kind) ?? 0) > 1),
      )
      if (spare === undefined) break
      pioneers.delete(spare)
      count(spare, -1)
    }
    pioneers.add(next)
    count(next, 1)
  }
  return [...pioneers].map((i) => left[i] ?? '')
}

/** Collects the kinds of some domains. */
export function collectKinds(domains: Iterable<Domain>, kinds: Kinds): Set<string> {
  const found = new Set<string>()
  for (const domain of domains) for (const kind of kinds.get(domain) ?? []) found.add(kind)
  return found
}

/** Lists the waves of the writes, with the kinds of change that each is the first to try. */
export function listWaves(writes: Write[], kinds: Kinds): PlanWave[] {
  const tried = new Set<string>()
  return [...groupBy(writes, ({ wave }) => wave)].map(([wave, own]) => {
    const domains = new Set(own.flatMap((write) => write.domains))
    const fresh = [...collectKinds(domains, kinds)].filter((kind) => !tried.has(kind)).toSorted()
    for (const kind of fresh) tried.add(kind)
    return { wave, domains: domains.size, writes: own.length, kinds: fresh }
  })
}

/** Describes the kinds of change that each wave is the first to try; empty with a single kind. */
export function describeKinds(waves: PlanWave[]): string[] {
  const count = addUp(waves, ({ kinds }) => kinds.length)
  if (waves.length < 2 || count < 2) return []
  return waves.flatMap(({ wave, kinds }) => {
    if (kinds.length === 0) return []
    const more = kinds.length - maxNamed
    return [
      `wave ${wave} is the first to ${kinds.slice(0, maxNamed).join('; ')}` +
        (more > 0 ? `; and ${pluralize(more, 'more kind', 'more kinds')} of change` : ''),
    ]
  })
}
