import { getItemSpec } from '../catalog/catalogue.ts'
import { nameFields } from '../catalog/hidden-fields.ts'
import type { Amount, Guards } from '../model/config.ts'
import { listTouched, nameChange, type Change, type Write } from '../model/change.ts'
import { isFrozen, type FreezeWindow } from '../model/time/freeze.ts'
import { groupBy, groupDomains } from '../model/lists.ts'
import { limitMatches } from '../model/input-limits.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import { computeImpactShare, type Impact } from '../model/traffic.ts'
import { formatCount, listSome, pluralize } from '../model/text/words.ts'
import { compileDomainGlobs } from '../model/text/domain-glob.ts'

/** Input of the guards. */
export interface GuardInput {
  changes: Change[]
  /** Checked besides the changes, since the writes are what reaches the service. */
  writes: Write[]
  guards: Guards
  /** Domains that were renamed: what protects the earlier name protects the later one. */
  moved: { from: Domain; to: Domain }[]
  fleet: Fleet
  /** Traffic of the domains of the writes; absent if none limits them. */
  impact?: Impact | undefined
  /** Items whose destructive changes the user allows (`--allow`). */
  allow: ItemKey[]
  /** Milliseconds since 1970. */
  now: number
}

/** Base of the shares: all managed or recorded domains and items, whether selected or not. */
export interface Fleet {
  domains: number
  items: number
}

/** Refusal by a guard: the reason with its numbers, and a hint what to do. */
export interface GuardRefusal {
  guard: 'maxDomains' | 'maxChanges' | 'maxTraffic' | 'protect' | 'freeze' | 'allow'
  message: string
  hint: string
}

/** Minimum number of domains for shares to apply: one of three domains is 33 % already. */
const minDomainsForShares = 10

/** Checks all guards and returns their refusals: none without changes; releases are changes. */
export function checkGuards(input: GuardInput): GuardRefusal[] {
  if (input.changes.length + input.writes.length === 0) return []
  return [
    ...checkAmounts(input),
    ...checkTraffic(input),
    ...checkProtected(input),
    ...checkDestructive(input),
    ...checkResets(input),
    ...checkFreeze(input.guards.freeze, input.now),
  ]
}

/** Finds what lifts a refusal: `--force` those of limits, an override a freeze, nothing others. */
export function findLift({ guard }: GuardRefusal): '--force' | 'freeze' | 'none' {
  if (guard === 'freeze') return guard
  return guard === 'protect' || guard === 'allow' ? 'none' : '--force'
}

/** Counts the domains and items that are managed or recorded. */
export function measureFleet(recorded: Snapshot, desired: Snapshot): Fleet {
  const domains = new Set([...recorded.keys(), ...desired.keys()])
  let items = 0
  for (const domain of domains) {
    const desiredItems = desired.get(domain)
    items += desiredItems?.size ?? 0
    for (const item of recorded.get(domain)?.keys() ?? [])
      if (desiredItems?.has(item) !== true) items++
  }
  return { domains: domains.size, items }
}

function checkAmounts({ changes, writes, guards, fleet }: GuardInput): GuardRefusal[] {
  const items = new Set(changes.map(nameChange))
  for (const write of writes)
    for (const domain of write.domains)
      for (const item of Object.keys(write.items)) items.add(nameChange({ domain, item }))
  const domains = listTouched({ changes, writes }).size
  return [
    ...checkAmount('maxDomains', guards.maxDomains, domains, 'domains', fleet),
    ...checkAmount('maxChanges', guards.maxChanges, items.size, 'items', fleet),
  ]
}

function checkAmount(
  guard: 'maxDomains' | 'maxChanges',
  max: Amount,
  changed: number,
  unit: 'domains' | 'items',
  fleet: Fleet,
): GuardRefusal[] {
  const all = fleet[unit]
  const share = (changed / all) * 100
  const limit =
    'count' in max && changed > max.count
      ? `more than ${max.count}`
      : 'percent' in max && fleet.domains >= minDomainsForShares && share > max.percent
        ? `${formatPercent(share)} and more than ${formatPercent(max.percent)}`
        : null
  if (limit === null) return []
  return [
    {
      guard,
      message:
        `${guard}: ${formatCount(changed)} of ${formatCount(all)} ${unit} would change, ` + limit,
      hint: 'Select fewer with --target or --item, or pass --force if you mean so many.',
    },
  ]
}

/** Refuses too large a share of the account's requests, and one that is not known. */
function checkTraffic({ guards: { maxTraffic }, impact, writes }: GuardInput): GuardRefusal[] {
  if (maxTraffic >= 100 || impact === undefined || writes.length === 0) return []
  const { requests, account, unknown } = impact
  const known = (computeImpactShare({ ...impact, unknown: 0 }) ?? 0) * 100
  const limit = `more than ${formatPercent(maxTraffic)}`
  const refuse = (why: string, hint: string): GuardRefusal[] => [
    { guard: 'maxTraffic', message: `maxTraffic: ${why}`, hint },
  ]
  if (known > maxTraffic)
    return refuse(
      `the domains that would change have ${formatPercent(known)} of the account's requests ` +
        `(${requests} of ${account} a day), ${limit}`,
      'Select fewer with --target, or pass --force if you mean so many.',
    )
  if (account !== null && unknown === 0) return []
  const what = unknown > 0 ? `traffic of ${pluralize(unknown, 'domain')}` : "account's traffic"
  return refuse(
    `the ${what} is not known; it may be ${limit} of the account's`,
    'Run "edgewise stats --refresh" and plan again, or pass --force.',
  )
}

function formatPercent(share: number): string {
  return `${Number(share.toFixed(2))} %`
}

function checkProtected({ changes, writes, guards, moved }: GuardInput): GuardRefusal[] {
  const { protect } = guards
  if (protect.length === 0) return []
  const touched = [...listTouched({ changes, writes })]
  limitMatches('guards.protect', protect.flat(), touched.length)
  const lists = protect.map(compileDomainGlobs)
  const earlier = groupBy(moved, ({ to }) => to)
  const isProtected = (domain: Domain) => {
    const names = [domain, ...(earlier.get(domain) ?? []).map(({ from }) => from)]
    return lists.some((matches) => names.some(matches))
  }
  const domains = touched.filter(isProtected)
  if (domains.length === 0) return []
  return [
    {
      guard: 'protect',
      message: `protect: ${listSome(domains)} ${domains.length === 1 ? 'is' : 'are'} protected`,
      hint:
        'Select other domains with --target, or take them out of "guards.protect" in ' +
        'edgewise.yaml with "!glob".',
    },
  ]
}

/** Refuses destructive changes and writes of items that are not allowed by name. */
function checkDestructive({ changes, writes, allow }: GuardInput): GuardRefusal[] {
  const changed = changes
    .filter(({ action, reason }) => action !== 'release' && reason !== 'cleared')
    .map(({ domain, item, after }) => ({ domains: [domain], item, value: after }))
  const written = writes.flatMap(({ domains, items }) =>
    Object.entries(items).map(([item, { payload }]) => ({ domains, item, value: payload })),
  )
  const found = [...changed, ...written].flatMap(({ domains, item, value }) => {
    const reason = allow.includes(item)
      ? null
      : (getItemSpec(item).explainDestructive?.(value) ?? null)
    return reason === null ? [] : domains.map((domain) => ({ domain, item, reason }))
  })
  return [...groupBy(found, ({ item, reason }) => `${item}: ${reason}`)].map(([message, same]) => ({
    guard: 'allow',
    message: `${message} (${listSome([...new Set(same.map(({ domain }) => domain))])})`,
    hint: `Pass --allow ${same[0]?.item ?? ''} if you mean it.`,
  }))
}

/** Refuses writes that reset fields whose values are unknown, unless the item is allowed. */
function checkResets({ changes, allow }: GuardInput): GuardRefusal[] {
  const found = changes.flatMap(({ domain, item, resets = [] }) =>
    resets.length === 0 || allow.includes(item)
      ? []
      : [{ domain, item, fields: listSome(nameFields(resets)) }],
  )
  return groupDomains(found, ({ item, fields }) => `${item} ${fields}`).map(
    ({ first: { item, fields }, domains }) => ({
      guard: 'allow',
      message:
        `${item}: the service never shows ${fields}, no manifest has them, and this write ` +
        `would reset them (${listSome(domains)})`,
      hint:
        `Write ${fields} with the values that the service has into the manifest, or pass ` +
        `--allow ${item} to reset them.`,
    }),
  )
}

/** Returns a refusal for each freeze window that contains the instant `now`, ms since 1970. */
export function checkFreeze(windows: FreezeWindow[], now: number): GuardRefusal[] {
  return windows
    .filter((window) => isFrozen(window, now))
    .map(({ from, to, timezone, reason }) => ({
      guard: 'freeze',
      message:
        `freeze: nothing is applied from ${from} to ${to} (${timezone})` +
        (reason === '' ? '' : `: ${reason}`),
      hint:
        'Wait until the window ends; in an emergency, pass --override freeze --reason TEXT ' +
        'to apply.',
    }))
}
