import type { TrafficFile } from './generated/state-types.ts'
import type { Domain } from './item.ts'
import { computeShare } from './statistics.ts'

/** Requests of a domain on the last whole day that was queried; its schema describes the keys. */
export type DomainTraffic = TrafficFile['domains'][string][number]

/** Lists the statuses of a health check that are counted only for it: all but 5xx and 0. */
export function listOthers(statuses: string[] = []): string[] {
  return statuses.filter((each) => each !== '0' && !each.startsWith('5'))
}

/** Traffic of the domains of an account, as statistics counted it. */
export interface TrafficProfile {
  domains: ReadonlyMap<Domain, DomainTraffic>
  /**
   * Requests of that day of the whole account, or of the workspace's domains if the service does
   * not sum it; null if they are not known.
   */
  account: number | null
  /** When the newest of the figures was queried, ms since 1970; 0 without any. */
  at: number
}

/** How much traffic some domains have. */
export interface Impact {
  /** Requests of a day of the domains that have a figure. */
  requests: number
  /** Requests of a day of the account; null if they are not known. */
  account: number | null
  /** Number of domains with a figure, and without. */
  known: number
  unknown: number
  /** Number of domains among the ten largest that are known. */
  top: number
  /** When the oldest of the figures was queried, ms since 1970; null if the profile has none. */
  countedAt: number | null
}

/**
 * Computes the share of the account's requests, from 0 to 1; null if a figure that it needs is
 * unknown.
 */
export function computeImpactShare({ requests, account, unknown }: Impact): number | null {
  return account === null || unknown > 0 ? null : Math.min(1, computeShare(requests, account))
}

/** A profile without figures. */
export const noTraffic: TrafficProfile = { domains: new Map(), account: null, at: 0 }

/** What a refresh of the figures has done. */
export interface RefreshedTraffic {
  /** The day that was counted, YYYY-MM-DD in the time zone of the service. */
  day: string
  /** Number of domains that were counted, and of those of them that had no figure before. */
  counted: number
  added: number
  /** Number of domains that had a figure of the day already. */
  fresh: number
  /** Number of domains without a request on the day. */
  idle: number
  /** Domains that the account does not have. */
  unknown: Domain[]
  /** Requests of the account; null if they are not known. */
  account: number | null
  /** Whether the service does not sum the account: its requests are those of the domains. */
  isSummed: boolean
}
