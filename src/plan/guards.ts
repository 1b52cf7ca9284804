import picomatch from 'picomatch'
import { itemSpec } from '../catalog/catalogue.ts'
import type { Amount } from '../model/amount.ts'
import type { Change } from '../model/change.ts'
import { isFrozen, type FreezeWindow } from '../model/freeze.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'

/** What no plan may do, as `edgewise.yaml` says it. */
export interface Guards {
  maxDomains: Amount
  maxChanges: Amount
  /** Globs of domains that are not changed. */
  protect: string[]
  freeze: FreezeWindow[]
}

/** What the guards judge a plan by. */
export interface GuardInput {
  changes: Change[]
  guards: Guards
  fleet: Fleet
  /** Items whose grave changes the user allows by name. */
  allow: ItemKey[]
  /** Numbers and shares do not count. Nothing else is overridden. */
  force: boolean
  /** Milliseconds since 1970. */
  now: number
}

/** What shares are shares of: every domain and item that is managed or recorded, chosen or not. */
export interface Fleet {
  domains: number
  items: number
}

/** Why a guard refuses a plan, with its numbers, and how it may go on. */
export interface GuardRefusal {
  guard: 'maxDomains' | 'maxChanges' | 'protect' | 'freeze' | 'allow'
  message: string
  wayOut: string
}

/** Of so few domains a share says nothing: one of three is a third of the fleet. */
const fewestForShares = 10

/** Every guard that refuses these changes; releases count as changes. None when nothing changes. */
export function guardRefusals(input: GuardInput): GuardRefusal[] {
  if (input.changes.length === 0) return []
  return [...amounts(input), ...protectedOnes(input), ...grave(input), ...frozen(input.guards.freeze, input.now)]
}

/** The size of what is managed or recorded. */
export function fleetOf(recorded: Snapshot, desired: Snapshot): Fleet {
  const domains = new Set([...recorded.keys(), ...desired.keys()])
  let items = 0
  for (const domain of domains) {
    const wanted = desired.get(domain)
    items += wanted?.size ?? 0
    for (const item of recorded.get(domain)?.keys() ?? []) if (wanted?.has(item) !== true) items++
  }
  return { domains: domains.size, items }
}

function amounts({ changes, guards, fleet, force }: GuardInput): GuardRefusal[] {
  if (force) return []
  const domains = new Set(changes.map((change) => change.domain)).size
  return [
    ...over('maxDomains', guards.maxDomains, domains, fleet.domains, 'domains', fleet),
    ...over('maxChanges', guards.maxChanges, changes.length, fleet.items, 'items', fleet),
  ]
}

function over(
  guard: 'maxDomains' | 'maxChanges',
  most: Amount,
  changed: number,
  all: number,
  things: string,
  fleet: Fleet,
): GuardRefusal[] {
  const wayOut = `Choose fewer with --target or --item, or give --force if so many are meant.`
  if ('count' in most) {
    if (changed <= most.count) return []
    return [{ guard, message: `${guard}: ${changed} of ${all} ${things} would change, more than ${most.count}`, wayOut }]
  }
  const share = (changed / all) * 100
  if (fleet.domains < fewestForShares || share <= most.percent) return []
  return [
    {
      guard,
      message: `${guard}: ${changed} of ${all} ${things} would change, ${percent(share)} and more than ${percent(most.percent)}`,
      wayOut,
    },
  ]
}

function percent(share: number): string {
  return `${Number(share.toFixed(2))} %`
}

function protectedOnes({ changes, guards: { protect } }: GuardInput): GuardRefusal[] {
  if (protect.length === 0) return []
  const matches = picomatch(protect, { nocase: true, dot: true })
  const domains = [...new Set(changes.map((change) => change.domain))].filter((domain) => matches(domain))
  if (domains.length === 0) return []
  return [
    {
      guard: 'protect',
      message: `protect: ${some(domains)} ${domains.length === 1 ? 'is' : 'are'} protected`,
      wayOut: 'Choose other domains with --target, or take the glob out of "guards.protect" in edgewise.yaml.',
    },
  ]
}

/** Changes that have to be allowed by the item's name. */
function grave({ changes, allow }: GuardInput): GuardRefusal[] {
  const found = changes.flatMap((change) => {
    if (change.action === 'release' || change.reason === 'cleared' || allow.includes(change.item)) return []
    const why = itemSpec(change.item).grave?.(change.after) ?? null
    return why === null ? [] : [{ domain: change.domain, item: change.item, why }]
  })
  return [...groupBy(found, ({ item, why }) => `${item}: ${why}`)].map(([message, same]) => ({
    guard: 'allow',
    message: `${message} (${some(same.map(({ domain }) => domain))})`,
    wayOut: `Give --allow ${same[0]?.item ?? ''} if that is meant.`,
  }))
}

/** The freeze windows that it lies in. */
export function frozen(windows: FreezeWindow[], now: number): GuardRefusal[] {
  return windows
    .filter((window) => isFrozen(window, now))
    .map(({ from, to, timezone, reason }) => ({
      guard: 'freeze',
      message: `freeze: nothing is applied from ${from} to ${to} (${timezone})${reason === '' ? '' : `: ${reason}`}`,
      wayOut: 'Wait for its end, or change "guards.freeze" in edgewise.yaml.',
    }))
}

function some(domains: Domain[]): string {
  const rest = domains.length - 3
  return rest > 0 ? `${domains.slice(0, 3).join(', ')} and ${rest} more` : domains.join(', ')
}
