import { compileDomainGlobs } from '../model/text/domain-glob.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Violation } from './policy.ts'

/** An exception from a policy, which ends. */
export interface PolicyException {
  policy: string
  /** Globs of its domains; null for all that it may have. */
  domains: string[] | null
  /** The domains of its manifest; null in a file of policies, for all domains. */
  own: Domain[] | null
  /** Null for all items. */
  items: ItemKey[] | null
  reason: string
  /** Its last day, UTC: `2026-03-31`. */
  until: string
  by: string | null
}

const msOfDay = 86_400_000

/** Counts the days that are left of an exception at `now`, ms since 1970; 0 after its last day. */
export function countDaysLeft({ until }: Pick<PolicyException, 'until'>, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(until) + msOfDay - now) / msOfDay))
}

/** Creates the test whether an exception covers a violation of its policy, whatever the day. */
export function createCoverTest({
  policy,
  domains,
  own,
  items,
}: PolicyException): (violation: Pick<Violation, 'policy' | 'domain' | 'item'>) => boolean {
  const isWithin = createDomainTest({ domains, own })
  return (violation) =>
    violation.policy === policy &&
    (items === null || (violation.item !== null && items.includes(violation.item))) &&
    isWithin(violation.domain)
}

/** Creates the test whether an exception may cover a domain; null stands for none. */
function createDomainTest({
  domains,
  own,
}: Pick<PolicyException, 'domains' | 'own'>): (domain: Domain | null) => boolean {
  if (domains === null && own === null) return () => true
  const matches = domains === null ? () => true : compileDomainGlobs(domains)
  const ownDomains = own === null ? null : new Set(own)
  return (domain) => domain !== null && (ownDomains?.has(domain) ?? true) && matches(domain)
}

/**
 * Creates the test whether earlier exceptions already excepted a violation that `exception` covers.
 * It may have another reason by now, but it has not been widened or prolonged.
 */
export function createKnownTest(
  exception: PolicyException,
  earlier: readonly PolicyException[],
): (violation: Pick<Violation, 'policy' | 'domain' | 'item'>) => boolean {
  const tests = earlier
    .filter(({ policy, until }) => policy === exception.policy && until >= exception.until)
    .map(createCoverTest)
  return (violation) => tests.some((covers) => covers(violation))
}
