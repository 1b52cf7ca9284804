import { compileSides, type Sides } from '../../../core/effects/sides.ts'
import { createDomainFinder } from '../../../core/effects/requests/find-domain.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Json } from '../../../core/model/json.ts'
import type { PageSides } from '../../../core/model/page/page-effects.ts'
import type { Candidate, Candidates } from '../../../core/trace/candidates.ts'
import type { Settings } from '../../../core/trace/readings.ts'
import { createSettings } from '../../../core/trace/settings.ts'

/** The configuration of changed domains before and after, without the values of secrets. */
export interface ChangedSides {
  domains: { domain: Domain; read(): { before: Candidates; after: Candidates } }[]
  /** All domains, those without a change among them. */
  known: Iterable<Domain>
  settings: Settings
}

/** Most domains in a page, and most characters of their configurations. */
const [maxDomains, maxCharacters] = [200, 2_000_000]

/** Packs configurations for a page: equal values once, and as many domains as fit. */
export function packSides({ domains, known, settings }: ChangedSides): PageSides {
  const candidates = new Shared<readonly Candidate[]>()
  const configurations = new Shared<Record<ItemKey, number>>()
  const pack = (items: Candidates) =>
    configurations.add(
      Object.fromEntries([...items].map(([item, list]) => [item, candidates.add(list)])),
    )
  const packed: PageSides['domains'] = []
  for (const { domain, read } of domains.slice(0, maxDomains)) {
    if (candidates.size + configurations.size > maxCharacters) break
    const { before, after } = read()
    packed.push([domain, pack(before), pack(after)])
  }
  const names = new Set(packed.map(([domain]) => domain))
  const find = createDomainFinder(names)
  return {
    candidates: candidates.list as Json[][],
    configurations: configurations.list,
    domains: packed,
    left: domains.length - packed.length,
    others: [...known].filter((domain) => !names.has(domain) && find(domain) !== null),
    answers: [...settings.answers],
    unmanaged: settings.unmanaged,
    timezone: settings.timezone,
  }
}

/** Finds both sides of the domain of a host in what `packSides` packed; null for another host. */
export function createSidesFinder(packed: PageSides): (host: string) => Sides | null {
  const { candidates, configurations, domains, others, answers, unmanaged, timezone } = packed
  const settings = createSettings({ answers, own: new Set(), unmanaged, timezone })
  const sides = new Map(domains.map(([domain, ...positions]) => [domain, positions]))
  const find = createDomainFinder([...sides.keys(), ...others])
  const unpack = (position: number): Candidates =>
    new Map(
      Object.entries(configurations[position] ?? {}).map(([item, at]) => [
        item,
        (candidates[at] ?? []) as Candidate[],
      ]),
    )
  return (host) => {
    const domain = find(host)
    const positions = sides.get(domain ?? '')
    if (domain === null || positions === undefined) return null
    const [before, after] = positions
    return compileSides(domain, unpack(before), unpack(after), settings)
  }
}

/** A list in which equal values are once. */
class Shared<Shape> {
  readonly list: Shape[] = []
  /** Characters of all values. */
  size = 0
  readonly #positions = new Map<string, number>()

  /** Adds a value unless it is there; its position. */
  add(value: Shape): number {
    const text = JSON.stringify(value)
    const known = this.#positions.get(text)
    if (known !== undefined) return known
    this.size += text.length
    this.#positions.set(text, this.list.length)
    return this.list.push(value) - 1
  }
}
