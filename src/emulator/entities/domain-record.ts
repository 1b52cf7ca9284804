export const areas = ['mainland_china', 'outside_mainland_china', 'global', 'rim'] as const
export const domainTypes = ['page', 'download', 'video_demand', 'dynamic', 'video_live'] as const
export const domainStatuses = ['serving', 'suspend', 'deploying', 'deleted'] as const
export type DomainStatus = (typeof domainStatuses)[number]

/** The record of a domain in an extended service, beside its configuration. */
export interface DomainRecord {
  area: (typeof areas)[number]
  type: (typeof domainTypes)[number]
  /** Time of its creation, ms; null for a domain that existed without. */
  createdAt: number | null
  /** Time of its last change, ms; null before the first. */
  changedAt: number | null
  removed: boolean
}

/** Record of a domain that was neither created nor changed. */
export const defaultRecord: DomainRecord = {
  area: 'mainland_china',
  type: 'page',
  createdAt: null,
  changedAt: null,
  removed: false,
}

/**
 * Computes the status of a domain at `now`: each change deploys for `deployMs`. A change in the
 * future (the clock was set back) has been deployed.
 */
export function computeStatus(
  { changedAt, removed }: DomainRecord,
  deployMs: number,
  now: number,
): DomainStatus {
  if (removed) return 'deleted'
  const age = changedAt === null ? -1 : now - changedAt
  return age >= 0 && age < deployMs ? 'deploying' : 'serving'
}
