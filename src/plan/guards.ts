import picomatch from 'picomatch'
import { getItemSpec } from '../catalog/catalogue.ts'
import type { Amount } from '../model/amount.ts'
import type { Guards } from '../model/config.ts'
import type { Change, Write } from '../model/change.ts'
import { isFrozen, type FreezeWindow } from '../model/freeze.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import { listSome } from '../model/words.ts'

/** What the guards judge a plan by. */
export interface GuardInput {
  changes: Change[]
  /** The calls count besides the changes: they are what reaches the service. */
  writes: Write[]
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
  hint: string
}

/** Of so few domains a share says nothing: one of three is a third of the fleet. */
const fewestForShares = 10

/**
 * Every guard that refuses these changes and writes; releases count as changes. None when nothing
 * changes.
 */
export function checkGuards(input: GuardInput): GuardRefusal[] {
  if (input.changes.length + input.writes.length === 0) return []
  return [
    ...amounts(input),
    ...protectedOnes(input),
    ...grave(input),
    ...checkFreeze(input.guards.freeze, input.now),
  ]
}

/** The size of what is managed or recorded. */
export function measureFleet(recorded: Snapshot, desired: Snapshot): Fleet {
  const domains = new Set([...recorded.keys(), ...desired.keys()])
  let items = 0
  for (const domain of domains) {
    const wanted = desired.get(domain)
    items += wanted?.size ?? 0
    for (const item of recorded.get(domain)?.keys() ?? []) if (wanted?.has(item) !== true) items++
  }
  return { domains: domains.size, items }
}

function amounts({ changes, writes, guards, fleet, force }: GuardInput): GuardRefusal[] {
  if (force) return []
  const items = new Set(changes.map(({ domain, item }) => `${domain} ${item}`))
  for (const write of writes)
    for (const domain of write.domains)
      for (const item of Object.keys(write.items)) items.add(`${domain} ${item}`)
  return [
    ...over(
      'maxDomains',
      guards.maxDomains,
      touchedDomains(changes, writes).length,
      fleet.domains,
      'domains',
      fleet,
    ),
    ...over('maxChanges', guards.maxChanges, items.size, fleet.items, 'items', fleet),
  ]
}

/** Every domain that a change is about or that a write names. */
function touchedDomains(changes: Change[], writes: Write[]): Domain[] {
  return [
    ...new Set([
      ...changes.map(({ domain }) => domain),
      ...writes.flatMap(({ domains }) => domains),
    ]),
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
  const hint = `Choose fewer with --target or --item, or give --force if so many are meant.`
  if ('count' in most) {
    if (changed <= most.count) return []
    return [
      {
        guard,
        message: `${guard}: ${changed} of ${all} ${things} would change, more than ${most.count}`,
        hint,
      },
    ]
  }
  const share = (changed / all) * 100
  if (fleet.domains < fewestForShares || share <= most.percent) return []
  return [
    {
      guard,
      message: `${guard}: ${changed} of ${all} ${things} would change, ${percent(share)} and more than ${percent(most.percent)}`,
      hint,
    },
  ]
}

function percent(share: number): string {
  return `${Number(share.toFixed(2))} %`
}

function protectedOnes({ changes, writes, guards: { protect } }: GuardInput): GuardRefusal[] {
  if (protect.length === 0) return []
  const matches = picomatch(protect, { nocase: true, dot: true })
  const domains = touchedDomains(changes, writes).filter((domain) => matches(domain))
  if (domains.length === 0) return []
  return [
    {
      guard: 'protect',
      message: `protect: ${listSome(domains)} ${domains.length === 1 ? 'is' : 'are'} protected`,
      hint: 'Choose other domains with --target, or take the glob out of "guards.protect" in edgewise.yaml.',
    },
  ]
}

/** Changes and writes that have to be allowed by the item's name. */
function grave({ changes, writes, allow }: GuardInput): GuardRefusal[] {
  const changed = changes
    .filter(({ action, reason }) => action !== 'release' && reason !== 'cleared')
    .map(({ domain, item, after }) => ({ domains: [domain], item, value: after }))
  const written = writes.flatMap(({ domains, items }) =>
    Object.entries(items).map(([item, { payload }]) => ({ domains, item, value: payload })),
  )
  const found = [...changed, ...written].flatMap(({ domains, item, value }) => {
    const why = allow.includes(item)
      ? null
      : (getItemSpec(item).explainDestructive?.(value) ?? null)
    return why === null ? [] : domains.map((domain) => ({ domain, item, why }))
  })
  return [...groupBy(found, ({ item, why }) => `${item}: ${why}`)].map(([message, same]) => ({
    guard: 'allow',
    message: `${message} (${listSome([...new Set(same.map(({ domain }) => domain))])})`,
    hint: `Give --allow ${same[0]?.item ?? ''} if that is meant.`,
  }))
}

/** The freeze windows that it lies in. */
export function checkFreeze(windows: FreezeWindow[], now: number): GuardRefusal[] {
  return windows
    .filter((window) => isFrozen(window, now))
    .map(({ from, to, timezone, reason }) => ({
      guard: 'freeze',
      message: `freeze: nothing is applied from ${from} to ${to} (${timezone})${reason === '' ? '' : `: ${reason}`}`,
      hint: 'Wait for its end, or change "guards.freeze" in edgewise.yaml.',
    }))
}
