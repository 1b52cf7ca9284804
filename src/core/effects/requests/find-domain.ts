import { getItemSpec } from '../../catalog/catalogue.ts'
import { getAnnotations, listLeaves, splitEntries } from '../../catalog/value/item-schema.ts'
import type { Domain, ItemKey } from '../../model/item.ts'
import type { Json } from '../../model/json.ts'
import { createRule, type Rule } from '../../trace/rule.ts'

/**
 * Creates a function that finds the domain of a host: the host itself, or the longest `.d` that it
 * ends in; null for a foreign host. Takes time in proportion to the labels of the host.
 */
export function createDomainFinder(domains: Iterable<Domain>): (host: string) => Domain | null {
  const known = new Set(domains)
  return (host) => {
    if (known.has(host)) return host
    for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
      const domain = host.slice(dot)
      if (known.has(domain)) return domain
    }
    return null
  }
}

/** Maximum number of domains that the way of a request is followed over. */
const maxDomains = 20

/**
 * Creates a search for the origins of a domain from which its requests come back to it.
 *
 * @param read reads the value of an item of a domain
 */
export function createLoopFinder(
  domains: Iterable<Domain>,
  read: (domain: Domain, item: ItemKey) => Json | undefined,
): (domain: Domain) => Rule[] {
  const find = createDomainFinder(domains)
  const list = (domain: Domain) =>
    ['origin', 'new_origin', 'tos_origin'].flatMap((item) =>
      listLeaves(getItemSpec(item).schema, read(domain, item) ?? null)
        .filter(({ schema }) => (schema.format ?? getAnnotations(schema).of) === 'address')
        .flatMap(({ value, pointer }) =>
          splitEntries(String(value), ',').map((host) => createRule(item, pointer, host)),
        ),
    )
  return (start) =>
    list(start).filter(({ pattern }) => {
      const seen = new Set([find(pattern ?? '')])
      // What is added meanwhile is visited as well.
      for (const domain of seen)
        if (domain !== null && seen.size <= maxDomains)
          for (const origin of list(domain)) seen.add(find(origin.pattern ?? ''))
      return seen.has(start)
    })
}
