import { createHash } from 'node:crypto'
import type { Domain } from '../../../core/model/item.ts'
import { findState, type FleetRow, type FleetState } from '../../../core/model/page/fleet.ts'
import type { DomainSheet, SheetItem } from './sheet.ts'

/** Rates the state of an item by what is most urgent of it. */
export function rateState({ condition, pending, refused }: SheetItem): FleetState {
  if (condition === 'in-doubt' || condition === 'on-hold') return condition
  if (condition === 'differs') return 'drifted'
  return pending === null ? 'recorded' : refused === null ? 'pending' : 'refused'
}

/**
 * Builds the row of a domain in the list of a fleet.
 *
 * @param requests a day; absent if unknown
 */
export function buildFleetRow({ domain, owners, items }: DomainSheet, requests?: number): FleetRow {
  const states = items.map(rateState)
  const count = (state: FleetState) => states.filter((each) => each === state).length
  const counts = {
    pending: count('pending'),
    refused: count('refused'),
    drifted: count('drifted'),
    onHold: count('on-hold'),
    inDoubt: count('in-doubt'),
  }
  const [confirmedAt] = items
    .flatMap(({ condition, changed }) =>
      changed === null || condition === 'in-doubt' ? [] : changed.at,
    )
    .toSorted()
  const page = namePage(domain)
  return {
    domain,
    state: findState(states),
    items: items.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0)),
    confirmedAt,
    requests,
    owners: owners.join(', ') || undefined,
    page: page === domain ? undefined : page,
  }
}

/** Names that Windows has for devices, whatever their ending. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/

/**
 * Names the page of a domain as a file, without its ending: the name of the domain where every file
 * system takes it, and no name twice. State may have any text as a domain.
 */
export function namePage(domain: Domain): string {
  const isPlain = /^\.?[a-z0-9_-][a-z0-9._-]{0,200}$/.test(domain) && !device.test(domain)
  if (isPlain) return domain.startsWith('.') ? `~${domain}` : domain
  return `~${createHash('sha256').update(domain).digest('hex').slice(0, 32)}`
}
