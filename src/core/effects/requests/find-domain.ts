import type { Domain } from '../../model/item.ts'

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
