import type { Domain } from '../item.ts'
import { findMax } from '../lists.ts'
import type { Given } from '../rollout.ts'
import { formatCount, pluralize } from '../text/words.ts'
import type { Identity } from './identity.ts'
import { listApprovable, nameSome, type RoleRule } from './roles.ts'

/** What the approval of a wave takes. */
export interface ApprovalNeeds {
  /** Number of approvers that each domain of the wave needs. */
  by: number
  /** Whether nobody who wrote the change may approve it. */
  notAuthor: boolean
}

/** Joins what approvals take by several rules: all of it counts. */
export function joinNeeds(all: readonly ApprovalNeeds[]): ApprovalNeeds {
  return {
    by: findMax(all.map(({ by }) => by)),
    notAuthor: all.some(({ notAuthor }) => notAuthor),
  }
}

/** What is known of a rollout when somebody wants to approve a wave of it. */
export interface ApprovalCase {
  domains: readonly Domain[]
  /** Addresses of those who wrote the change, in lower case; null if they are not known. */
  authors: ReadonlySet<string> | null
  needs: ApprovalNeeds
  rules: readonly RoleRule[]
}

/**
 * Explains why an approval of somebody would not count, in a sentence; null if it would. What takes
 * two persons or another one than the author has to know who each of them is, which the token
 * does not show.
 *
 * @param before approvals that the wave has
 */
export function explainUncounted(
  { name, knownBy, email }: Identity,
  { authors, needs }: ApprovalCase,
  before: readonly Given[],
): string | null {
  if (needs.by > 1 && ['token', 'unidentified'].includes(knownBy))
    return `The wave needs ${needs.by} approvers, and the token shows nobody's name.`
  if (before.some(({ author }) => author === name)) return `${name} has already approved the wave.`
  if (!needs.notAuthor) return null
  if (email === null)
    return (
      'The author of a change may not approve it, and nothing proves an e-mail address that ' +
      'could be compared with the author.'
    )
  if (authors === null) return 'The authors of the change are not known, so nobody may approve it.'
  return authors.has(email) ? `${email} wrote a part of the change.` : null
}

/** Finds the domains of a wave that an approval of somebody counts for. */
export function findGiven(identity: Identity, { domains, rules }: ApprovalCase): Domain[] | null {
  const covered = listApprovable(identity, domains, rules)
  return covered.length === domains.length ? null : covered
}

/** Lists the domains of a wave that have fewer approvers than they need. */
export function listLacking(
  domains: readonly Domain[],
  given: readonly Given[],
  by: number,
): Domain[] {
  const lists = given.map((each) => (each.domains === undefined ? null : new Set(each.domains)))
  return domains.filter(
    (domain) => lists.filter((list) => list === null || list.has(domain)).length < by,
  )
}

/** Describes what a wave still lacks: `2 of 5 domains need another approver: a.example.com`. */
export function describeLacking(domains: readonly Domain[], lacking: readonly Domain[]): string {
  const verb = lacking.length === 1 ? 'needs' : 'need'
  const count = `${formatCount(lacking.length)} of ${pluralize(domains.length, 'domain')}`
  return `${count} ${verb} another approver: ${nameSome(lacking)}`
}
