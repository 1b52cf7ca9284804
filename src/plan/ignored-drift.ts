import picomatch from 'picomatch'
import type { IgnoreRule } from '../model/config.ts'
import type { Domain, ItemKey } from '../model/item.ts'

/** Creates the look-up of the rules of `drift.ignore` for an item of a domain. */
export function createIgnoreLookup(
  ignore: IgnoreRule[],
): (domain: Domain, item: ItemKey) => IgnoreRule[] {
  const rules = ignore.map((rule) => ({
    rule,
    matches: picomatch(rule.domain, { nocase: true, dot: true }),
  }))
  return (domain, item) =>
    rules.flatMap(({ rule, matches }) => (rule.item === item && matches(domain) ? [rule] : []))
}
