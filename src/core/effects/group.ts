import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { computeShare } from '../model/statistics.ts'
import { canonicalizeJson } from '../model/text/canonical-json.ts'
import { completeFacts, parseRequest, type Facts, type Visitor } from '../trace/request.ts'
import { BadRequest, parseUrl } from '../trace/url.ts'
import {
  compareFacts,
  compareStrength,
  listCauses,
  type Comparison,
  type Delta,
  type EffectClass,
  type SideRule,
  type Verdict,
} from './compare.ts'
import type { CountedRequest } from './requests/parse-requests.ts'
import type { Sides } from './sides.ts'

/** Requests that a change changes in the same way. */
export interface EffectGroup {
  /** Those of its strongest delta: by class, then `differs` before `may-differ`. */
  class: Exclude<EffectClass, 'internal'>
  verdict: Verdict
  count: number
  domains: Domain[]
  /** Items that differ and that a stage of its deltas reads. */
  items: ItemKey[]
  /** At most three URLs, in the order of the requests. */
  examples: string[]
  /** Those of its first request, without internal ones, with the rules that decide on each side. */
  deltas: (Delta & { rules: SideRule[] })[]
}

/** What a change does to many requests. */
export interface Effects {
  /** Requests, those that were skipped among them. */
  total: number
  /** Requests of other hosts, and those that are none. */
  skipped: number
  /** Requests without a delta that is not internal. */
  same: number
  /** Requests by domain, without those that were skipped. */
  byDomain: ReadonlyMap<Domain, number>
  /** By class, verdict, count (descending) and first example. */
  groups: EffectGroup[]
}

/** How requests are grouped. */
export interface GroupOptions {
  /** `shape`: cache keys and URLs count only by whether they change. Default `answers`. */
  groupBy?: 'answers' | 'shape'
  /** Requests that a reader has skipped. */
  skipped?: number
  /** What holds for facts that a request lacks; `usual` unless it is of a log. */
  visitor?: Visitor
}

/** Most texts of deltas that are kept, beside the groups themselves. */
const maxTexts = 10_000
/** Most examples of a group. */
const maxExamples = 3
/** Answers of which `shape` reads only whether they change. */
const shapeless = new Set(['cache.key', 'origin.url', 'redirect.location', 'response.location'])

/**
 * Compares what both sides do to many requests, and groups those with equal deltas. Keeps counts
 * and examples only, so the requests may come from a stream.
 *
 * @param findSides the sides of the domain of a host; null for a foreign host
 */
export function groupEffects(
  requests: Iterable<CountedRequest>,
  findSides: (host: string) => Sides | null,
  { groupBy = 'answers', skipped = 0, visitor = 'usual' }: GroupOptions = {},
): Effects {
  const groups = new Groups(groupBy)
  const byDomain = new Map<Domain, number>()
  const effects: Effects = { total: skipped, skipped, same: 0, byDomain, groups: [] }
  for (const { request, count } of requests) {
    effects.total += count
    const found = readFacts(request, findSides, visitor)
    if (found === null) {
      effects.skipped += count
      continue
    }
    const { domain } = found.sides
    byDomain.set(domain, (byDomain.get(domain) ?? 0) + count)
    const comparison = compareFacts(found.sides, found.facts, 'noticed')
    if (comparison.deltas.length === 0) effects.same += count
    else groups.add(found.sides, String(request['url']), count, comparison)
  }
  effects.groups = groups.list()
  return effects
}

/** Computes the share of a group among the requests of its domains, from 0 to 1. */
export function computeGroupShare(
  { count, domains }: Pick<EffectGroup, 'count' | 'domains'>,
  { byDomain }: Pick<Effects, 'byDomain'>,
): number {
  return computeShare(
    count,
    domains.reduce((sum, domain) => sum + (byDomain.get(domain) ?? 0), 0),
  )
}

/** Reads the facts of a request of a known domain; null for others, and for what is no request. */
function readFacts(
  request: Record<string, Json>,
  findSides: (host: string) => Sides | null,
  visitor: Visitor,
): { sides: Sides; facts: Facts } | null {
  try {
    const sides = findSides(parseUrl(String(request['url'] ?? ''), null).host)
    if (sides === null) return null
    return { sides, facts: completeFacts(parseRequest(request, sides.domain), visitor) }
  } catch (error) {
    if (error instanceof BadRequest) return null
    throw error
  }
}

/** A group that grows. */
interface OpenGroup extends Omit<EffectGroup, 'domains' | 'items'> {
  domains: Set<Domain>
  items: Set<ItemKey>
}

/** The groups of the requests so far. */
class Groups {
  readonly #groupBy: NonNullable<GroupOptions['groupBy']>
  readonly #byDeltas = new Map<string, OpenGroup>()
  /** The same by deltas as they are written, which takes less time. */
  readonly #byText = new Map<string, OpenGroup>()

  constructor(groupBy: NonNullable<GroupOptions['groupBy']>) {
    this.#groupBy = groupBy
  }

  add(sides: Sides, url: string, count: number, { deltas, findRules }: Comparison): void {
    const described = deltas.map((delta) => describe(delta, this.#groupBy))
    const text = JSON.stringify(described)
    const group = this.#byText.get(text) ?? this.#open(described, deltas, findRules)
    if (group === null) return
    if (this.#byText.size < maxTexts) this.#byText.set(text, group)
    group.count += count
    group.domains.add(sides.domain)
    for (const item of listCauses(sides, deltas)) group.items.add(item)
    if (group.examples.length < maxExamples && !group.examples.includes(url))
      group.examples.push(url)
  }

  #open(
    described: Json,
    deltas: Comparison['deltas'],
    findRules: Comparison['findRules'],
  ): OpenGroup | null {
    const key = canonicalizeJson(described)
    const known = this.#byDeltas.get(key)
    const [strongest] = deltas.toSorted(compareStrength)
    if (known !== undefined || strongest === undefined) return known ?? null
    const group: OpenGroup = {
      class: strongest.class === 'visible' ? 'visible' : 'content',
      verdict: strongest.verdict,
      count: 0,
      domains: new Set(),
      items: new Set(),
      examples: [],
      deltas: deltas.map((delta) => ({ ...delta, rules: findRules(delta) })),
    }
    this.#byDeltas.set(key, group)
    return group
  }

  /** The groups in their order. */
  list(): EffectGroup[] {
    const all = [...this.#byDeltas.values()].map((group) => ({
      ...group,
      domains: [...group.domains].toSorted(),
      items: [...group.items].toSorted(),
    }))
    return all.toSorted(compareGroups)
  }
}

/** What deltas of a group have in common. */
function describe(delta: Delta, groupBy: NonNullable<GroupOptions['groupBy']>): Json {
  const { field, verdict, before, after } = delta
  if (groupBy === 'shape' && shapeless.has(field)) return [field, verdict]
  return [field, verdict, before, after]
}

function compareGroups(a: EffectGroup, b: EffectGroup): number {
  const byStrength = compareStrength(a, b)
  if (byStrength !== 0) return byStrength
  if (a.count !== b.count) return b.count - a.count
  const [first = '', second = ''] = [a.examples[0], b.examples[0]]
  return first < second ? -1 : Number(first > second)
}
