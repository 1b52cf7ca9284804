import { compileDomainGlob } from '../model/domain-glob.ts'
import type { Domain } from '../model/item.ts'

/**
 * Creates the matcher of `guards.protect`. A glob after `!` takes domains out again; the last
 * pattern that matches a domain decides.
 */
export function createProtection(patterns: string[]): (domain: Domain) => boolean {
  const rules = patterns.map((pattern) => {
    const isProtecting = !pattern.startsWith('!')
    const glob = isProtecting ? pattern : pattern.slice(1)
    return { isProtecting, matches: compileDomainGlob(glob) }
  })
  return (domain) => rules.findLast(({ matches }) => matches(domain))?.isProtecting ?? false
}
