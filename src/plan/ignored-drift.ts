import type { IgnoreRule } from '../model/config.ts'
import { compileDomainGlob } from '../model/domain-glob.ts'
import { limitMatches } from '../model/input-limits.ts'
import type { Domain, ItemKey } from '../model/item.ts'

/**
 * Creates the look-up of the rules of `drift.ignore` for an item of a domain.
 *
 * @param domains number of the domains that will be looked up
 * @throws EdgewiseError `usage` with too many rules for them
 */
export function createIgnoreLookup(
  ignore: IgnoreRule[],
  domains: number,
): (domain: Domain, item: ItemKey) => IgnoreRule[] {
  limitMatches(
    'drift.ignore',
    ignore.map(({ domain }) => domain),
    domains,
  )
  const rules = ignore.map((rule) => ({ rule, matches: compileDomainGlob(rule.domain) }))
  return (domain, item) =>
    rules.flatMap(({ rule, matches }) => (rule.item === item && matches(domain) ? [rule] : []))
}
