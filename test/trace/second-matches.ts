import type { Pair } from './pairs/pair.ts'
import { findOnly } from './second/access.ts'
import { listCacheRules } from './second/cache.ts'
import { rankRules, readCacheSource } from './second/cache-rules.ts'
import type { Check, Part } from './second/check.ts'
import { checks } from './second/checks.ts'
import { openTrace } from './second/interpret.ts'
import { nameRule, type Items, type RuleName } from './second/items.ts'
import { isInsensitive, matchPattern, matchRegex } from './second/matching.ts'
import type { CheckName, ReadingName } from './second/readings.ts'
import { known, type Cond } from './second/result.ts'
import { seen } from './second/seen.ts'
import { readSubject } from './second/subjects.ts'
import type { Trace } from './second/trace.ts'

/** A rule or an entry, and what the second interpreter says about its match. */
export interface Match {
  name: RuleName
  holds: Cond
}

/** Opens the second interpreter for a pair. */
export function openSecond(pair: Pair): Trace {
  return openTrace(pair)
}

/** The answer of a reading. */
export function readAnswer(second: Trace, name: ReadingName): unknown {
  return second.settings.settled.get(name)
}

/** Matches of the cache rules in the order in which they stand, of items with one value. */
export function matchCacheRules(second: Trace): Match[] {
  return listCacheRules(second).map((rule) => ({
    name: rule.name,
    holds: second.ask((world) => rule.match(world, readCacheSource(world))),
  }))
}

/** Those that may match in rank order; an item that is not known is one unknown rule. */
export function rankCacheRules(second: Trace): Match[] {
  const ranked = second.ask((world) => known(rankRules(world, readCacheSource(world))))
  if (!ranked.known) throw new Error('an item with several values')
  return ranked.value.map(({ rule, match }) => ({
    name: rule?.name ?? nameRule('?', ''),
    holds: match,
  }))
}

/** Matches of the rules that rewrite, each by itself. */
export function matchRewrites(second: Trace): Match[] {
  const rules = (findOnly(second, 'source_url_rewrite') ?? []) as Items['source_url_rewrite']
  return rules.map(({ origin_url }, i) => {
    const where = `source_url_rewrite/${i}`
    const holds = second.ask((world) => {
      const use = { pattern: origin_url, ci: isInsensitive(world), where, extent: 'R4' } as const
      return matchRegex(world, use, readSubject(world, seen, 'path-and-query', where))
    })
    return { name: nameRule('source_url_rewrite', `/${i}`, origin_url), holds }
  })
}

/** Matches of the patterns of speed limits, at any time. */
export function matchSpeedLimits(second: Trace): Match[] {
  const rules = (findOnly(second, 'speed_limit') ?? []) as Items['speed_limit']
  return rules.map(({ type: kind, pattern }, i) => {
    const where = `speed_limit/${i}`
    const holds = second.ask((world) => {
      const use = { kind, pattern, ci: isInsensitive(world), where, source: seen }
      return matchPattern(world, { ...use, regexSubject: 'whole-url' })
    })
    return { name: nameRule('speed_limit', `/${i}`), holds }
  })
}

/** Matches of the parts of a check that deny by themselves, and of its entries. */
export function matchParts(second: Trace, item: CheckName): { parts: Match[]; entries: Match[] } {
  const check = checks[item] as Check<CheckName>
  const value = findOnly(second, item) as never
  const match = (parts: Part[] = []) =>
    parts.map(({ rule, holds }) => ({ name: rule, holds: second.ask(holds) }))
  if (value === null) return { parts: [], entries: [] }
  return {
    parts: match(check.parts?.(value)),
    entries: match(check.entries?.(value)),
  }
}
