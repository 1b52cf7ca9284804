import { catalogue } from '../catalog/catalogue.ts'
import { stages as allStages, type Stage } from '../catalog/item-spec.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { canonicalizeJson } from '../model/text/canonical-json.ts'
import type { Candidate, Candidates } from '../trace/candidates.ts'
import type { Settings } from '../trace/readings.ts'
import { compile, type Compiled } from '../trace/trace.ts'
import { readEffective } from './effective.ts'

/** The configuration of one domain before and after a change, ready for requests. */
export interface Sides {
  domain: Domain
  before: Compiled
  after: Compiled
  /** Items that differ in what the semantics read of them, sorted. */
  changed: readonly ItemKey[]
  /** Stages that read one of these items. */
  stages: ReadonlySet<Stage>
  /** Stages and answers that may be different; all others are equal while both sides serve. */
  reached: ReadonlySet<string>
}

/** Stages and answers that an item may change beside the stages that read it. */
const reach: Record<ItemKey, readonly string[] | undefined> = {
  // The signature may be taken out of the URL that all others see (R37).
  visit_timestamp: allStages,
  extend: allStages,
  head_control: ['cache'],
  source_url_rewrite: ['cache'],
  cache_rule: ['origin.url'],
  cache_rule_list: ['origin.url'],
  forward_status: ['response.status', 'response.location'],
}

/**
 * Compiles both sides of a change of one domain (request semantics, 6). Items that are unmanaged on
 * both sides are taken as absent on both.
 *
 * @param before candidates by item, in canonical form; an item without a key is unmanaged
 */
export function compileSides(
  domain: Domain,
  before: Candidates,
  after: Candidates,
  settings: Settings,
): Sides {
  const absent = [...catalogue.keys()].filter((key) => !before.has(key) && !after.has(key))
  const complete = (items: Candidates): Candidates =>
    new Map([...items, ...absent.map((key): [ItemKey, Candidate[]] => [key, [null]])])
  const changed = [...catalogue.keys()]
    .filter((key) => !isSameItem(key, before.get(key), after.get(key), settings))
    .toSorted()
  const stages = changed.flatMap((key) => catalogue.get(key)?.stages ?? [])
  return {
    domain,
    before: compile(domain, complete(before), settings),
    after: compile(domain, complete(after), settings),
    changed,
    stages: new Set(stages),
    reached: new Set([...stages, ...changed.flatMap((key) => reach[key] ?? [])]),
  }
}

/** Tests whether the candidates of an item mean the same on both sides, in any order. */
function isSameItem(
  key: ItemKey,
  before: readonly Candidate[] | undefined,
  after: readonly Candidate[] | undefined,
  settings: Settings,
): boolean {
  const write = (candidates: readonly Candidate[] | undefined): string => {
    const known = candidates ?? (settings.isTakenAsAbsent(key) ? [null] : undefined)
    if (known === undefined) return 'unmanaged'
    const texts = known.map((each) => canonicalizeJson(readEffective(key, each)))
    return [...new Set(texts)].toSorted().join('\n')
  }
  return before === after || write(before) === write(after)
}
