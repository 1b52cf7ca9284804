import type { Domain } from './item.ts'

/** Requests of a domain on the last whole day that was queried. */
export interface DomainTraffic {
  /** Requests of that day, and those answered 5xx or without an answer (0). */
  requests: number
  bad: number
  /** When it was queried, ms since 1970. */
  at: number
}

/** Traffic of the domains of an account, as statistics counted it. */
export interface TrafficProfile {
  domains: ReadonlyMap<Domain, DomainTraffic>
  /** Requests of that day of the whole account; null if they are not known. */
  account: number | null
  /** When the newest of the figures was queried, ms since 1970; 0 without any. */
  at: number
}

/** A profile without figures. */
export const noTraffic: TrafficProfile = { domains: new Map(), account: null, at: 0 }
