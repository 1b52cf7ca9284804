import type { Domain } from '../item.ts'
import { compileDomainGlobs } from '../text/domain-glob.ts'
import { formatCount } from '../text/words.ts'
import { describeIdentity, listUserNames, type Identity } from './identity.ts'

/** `viewer` sees, `approver` also approves waves, `operator` also pauses, aborts and stops. */
export type RoleName = 'viewer' | 'approver' | 'operator'

/** A role that users and groups have for some domains, as the workspace file has it. */
export interface RoleRule {
  role: RoleName
  users: string[]
  groups: string[]
  /** Globs; `*` is every domain. */
  domains: string[]
  /** Domains by their names, which the globs need not match. */
  named?: readonly Domain[]
}

/**
 * Roles that allow an action, and for which domains: `any` of those that it is about, `each` of
 * them, or `all` that there are.
 */
const needs = {
  view: { roles: ['viewer', 'approver', 'operator'], scope: 'any' },
  approve: { roles: ['approver'], scope: 'any' },
  // What only holds back is allowed to everybody who has to do with it.
  pause: { roles: ['approver', 'operator'], scope: 'any' },
  resume: { roles: ['operator'], scope: 'each' },
  abort: { roles: ['operator'], scope: 'each' },
  'stop-all': { roles: ['operator'], scope: 'any' },
  'resume-all': { roles: ['operator'], scope: 'all' },
} as const satisfies Record<string, { roles: RoleName[]; scope: 'any' | 'each' | 'all' }>

/** What somebody may ask for. */
export type Action = keyof typeof needs
export const actions = Object.keys(needs) as Action[]

const phrases: Partial<Record<Action, string>> = {
  view: 'see anything',
  'stop-all': 'stop all writes',
  'resume-all': 'resume all writes',
}

/**
 * Explains why somebody may not do something, in a sentence; null if it is allowed. The token may
 * everything. Without roles, whoever a provider, a proxy or CI names may only look: otherwise every
 * account of a company could stop the fleet.
 *
 * @param domains that the action is about: the wave's for an approval, else the rollout's; empty
 *   for those about all writes and for looking
 * @param source where the rules are from
 */
export function explainRefusal(
  identity: Identity,
  action: Action,
  domains: readonly Domain[],
  rules: readonly RoleRule[],
  source = 'edgewise.yaml',
): string | null {
  if (identity.knownBy === 'token') return null
  const { scope } = needs[action]
  const roles: readonly RoleName[] = needs[action].roles
  const who = describeIdentity(identity)
  const words = `${who} may not ${phrases[action] ?? action}`
  if (rules.length === 0) {
    const isKnownToProvider = !['database', 'unidentified'].includes(identity.knownBy)
    if (action === 'view' || !isKnownToProvider) return null
    return `${words}: ${source} has no roles, so that only the token decides.`
  }
  const own = rules.filter((rule) => roles.includes(rule.role) && isIn(rule, identity))
  const wanted = roles.join(' or ')
  if (own.length === 0) return `${words}: that needs the role ${wanted}.`
  if (scope === 'all' && !own.some((rule) => isUnlimited(rule)))
    return `${words}: that needs the role ${wanted} for all domains.`
  if (domains.length === 0 || scope === 'all') return null
  const covered = listCovered(own, domains)
  if (scope === 'any' && covered.size > 0) return null
  const left = domains.filter((domain) => !covered.has(domain))
  if (left.length === 0) return null
  return `${words}: that needs the role ${wanted} for ${nameSome(left)}.`
}

/** Lists those of the domains that somebody may approve. */
export function listApprovable(
  identity: Identity,
  domains: readonly Domain[],
  rules: readonly RoleRule[],
): Domain[] {
  if (identity.knownBy === 'token' || rules.length === 0) return [...domains]
  const own = rules.filter((rule) => rule.role === 'approver' && isIn(rule, identity))
  const covered = listCovered(own, domains)
  return domains.filter((domain) => covered.has(domain))
}

function isIn({ users, groups }: RoleRule, identity: Identity): boolean {
  // A claim that happens to be a group's name must not make a machine its member.
  const isUser = listUserNames(identity).some((name) => users.includes(name))
  return isUser || groups.some((group) => identity.groups.includes(group))
}

function isUnlimited({ domains }: RoleRule): boolean {
  return domains.length === 1 && domains[0] === '*'
}

function listCovered(rules: readonly RoleRule[], domains: readonly Domain[]): Set<Domain> {
  const globs = rules.filter((rule) => rule.domains.length > 0)
  const matchers = globs.map((rule) => compileDomainGlobs(rule.domains))
  const named = new Set(rules.flatMap((rule) => rule.named ?? []))
  return new Set(
    domains.filter((domain) => named.has(domain) || matchers.some((matches) => matches(domain))),
  )
}

/** Names a domain, and counts the others. */
export function nameSome(domains: readonly Domain[]): string {
  const [first = '', ...others] = domains
  return others.length === 0 ? first : `${first} and ${formatCount(others.length)} more`
}
