import type { Domain } from '../item.ts'
import { findMax } from '../lists.ts'
import type { Given } from '../rollout.ts'
import { formatCount, pluralize } from '../text/words.ts'
import { areShownDifferent, isPerson, type Actor, type Identity } from './identity.ts'
import { nameSome } from './roles.ts'

/** What the approval of a wave takes. */
export interface ApprovalNeeds {
  /** Number of approvers that each domain of the wave needs. */
  by: number
  /** Whether nobody who wrote the change may approve it. */
  notAuthor: boolean
}

/** Addresses of those who wrote a change, by `parseAddress`; or a clause, why they are unknown. */
export type Authors = ReadonlySet<string> | string

/** Joins what approvals take by several rules: all of it counts. */
export function joinNeeds(all: readonly ApprovalNeeds[]): ApprovalNeeds {
  return {
    by: findMax(all.map(({ by }) => by)),
    notAuthor: all.some(({ notAuthor }) => notAuthor),
  }
}

/**
 * Explains why an approval of somebody would not count, in a sentence; null if it would. Where two
 * persons or another one than the author are needed, who is not shown to be another does not count.
 *
 * @param before approvals that the wave has
 */
export function explainUncounted(
  identity: Identity,
  authors: Authors,
  needs: ApprovalNeeds,
  before: readonly Given[],
): string | null {
  const { name, email } = identity
  const shown = identity.knownBy === 'ci' ? 'a job' : 'the token'
  if (needs.by > 1 && !isPerson(identity))
    return `The wave needs ${needs.by} approvers, and ${shown} shows nobody's name.`
  const same = before.flatMap((given) => (areDifferent(given.by, identity) ? [] : [given.author]))
  if (same.includes(name)) return `${name} has already approved the wave.`
  if (same.length > 0 && needs.by > 1)
    return (
      `${name} is not shown to be another person than ${same.join(', ')}, who has approved ` +
      'the wave: that takes two subjects of one issuer.'
    )
  if (!needs.notAuthor) return null
  if (email === null)
    return (
      'The author of a change may not approve it, and nothing proves an e-mail address that ' +
      'could be compared with the author.'
    )
  if (typeof authors === 'string')
    return `The authors of the change are not known, so nobody may approve it: ${authors}.`
  return authors.has(email) ? `${email} wrote a part of the change.` : null
}

/** As `areShownDifferent`; of whom nothing was recorded is not shown to be another. */
function areDifferent(given: Actor | undefined, other: Actor | undefined): boolean {
  return given !== undefined && other !== undefined && areShownDifferent(given, other)
}

/** Lists the domains of a wave that have fewer approvers, shown to be different, than they need. */
export function listLacking(
  domains: readonly Domain[],
  given: readonly Given[],
  by: number,
): Domain[] {
  const lists = given.map((each) => ({ ...each, domains: each.domains && new Set(each.domains) }))
  return domains.filter((domain) => {
    const counted: Given['by'][] = []
    for (const { by: own, domains: list } of lists)
      if (list?.has(domain) !== false && counted.every((other) => areDifferent(other, own)))
        counted.push(own)
    return counted.length < by
  })
}

/** Describes what a wave still lacks: `2 of 5 domains need another approver: a.example.com`. */
export function describeLacking(domains: readonly Domain[], lacking: readonly Domain[]): string {
  const verb = lacking.length === 1 ? 'needs' : 'need'
  const count = `${formatCount(lacking.length)} of ${pluralize(domains.length, 'domain')}`
  return `${count} ${verb} another approver: ${nameSome(lacking)}`
}
