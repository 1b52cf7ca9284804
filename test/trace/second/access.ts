import { report, type Answer } from './answers.ts'
import type { Check, Part } from './check.ts'
import { checks } from './checks.ts'
import {
  isItemName,
  isUnknownCandidate,
  nameRule,
  emptyToNull,
  type ItemName,
  type RuleName,
} from './items.ts'
import { isInsensitive, lower, readText } from './matching.ts'
import { checkNames, type CheckName } from './readings.ts'
import {
  all,
  isYes,
  known,
  map,
  no,
  not,
  reasonsOf,
  some,
  bind,
  unknownOf,
  type Cond,
  type Result,
} from './result.ts'
import { seen } from './seen.ts'
import { readSubject } from './subjects.ts'
import type { Trace, World } from './trace.ts'

/** The check of an item; its value is that of the item. */
function getCheck(item: CheckName): Check<CheckName> {
  return checks[item] as Check<CheckName>
}

/** Whether an entry of `visit_deny_whitelist` matches. */
function matchExempt(world: World, url: unknown, i: number): Cond {
  const reason = `undecidable visit_deny_whitelist/${i}/url`
  const ci = isInsensitive(world)
  return bind(readText(world, url), (entry) => {
    const isPath = world.is('R19', 'path') && !entry.includes('?')
    const subject = readSubject(world, seen, isPath ? 'path' : 'path-and-query', reason)
    return map(subject, (text) => (ci ? lower(text) === lower(entry) : text === entry))
  })
}

/** E: the request is exempt. */
function isExempt(world: World): Cond {
  return bind(world.item('visit_deny_whitelist'), (entries) =>
    some(
      ...(entries ?? []).map(
        ({ url, turn_on }, i) =>
          () =>
            turn_on ? matchExempt(world, url, i) : no,
      ),
    ),
  )
}

/** D of a check. */
function denies(world: World, item: CheckName): Cond {
  return bind<unknown, boolean>(world.item(item), (given) => {
    if (given === null) return no
    const value = given as never
    const check = getCheck(item)
    if (check.denies !== undefined) return check.denies(world, value)
    const parts = [...(check.parts?.(value) ?? []), ...(check.entries?.(value) ?? [])]
    const holds = some(...parts.map((part) => () => part.holds(world)))
    return check.entriesPass?.(value) === true ? not(holds) : holds
  })
}

/** Whether a check denies. */
function isDenied(world: World, item: CheckName): Cond {
  const isAntiLeech = item === 'referer' || item === 'visit_timestamp'
  return world.once(`check ${item}`, () =>
    all(
      () => denies(world, item),
      () => (isAntiLeech || world.is('R18', 'every') ? not(isExempt(world)) : known(true)),
    ),
  )
}

/** Whether some check denies. */
export function isAccessDenied(world: World): Cond {
  return some(...checkNames.map((item) => () => isDenied(world, item)))
}

/** The first check in the order of R15 that denies, if all before it pass. */
function readDeciding(world: World): Result<string | null> {
  const order = world.settled('R15')
  const ranked = Array.isArray(order) ? (order as CheckName[]) : checkNames
  const unsure: Cond[] = []
  for (const item of ranked) {
    const denied = isDenied(world, item)
    if (!denied.known) unsure.push(denied)
    else if (denied.value)
      return unsure.length === 0 ? known(item) : unknownOf(reasonsOf(...unsure))
  }
  return unsure.length === 0 ? known(null) : unknownOf(reasonsOf(...unsure))
}

/** The state of an item. */
function readState(trace: Trace, item: ItemName): string {
  const candidates = Object.hasOwn(trace.config.items, item) ? trace.config.items[item] : undefined
  if (candidates === undefined) return trace.isTakenAsAbsent(item) ? 'absent' : 'unmanaged'
  if (candidates.length > 1 || isUnknownCandidate(candidates[0])) return 'in-doubt'
  return emptyToNull(candidates[0]) === null ? 'absent' : 'set'
}

/** The only value of an item; null if it is absent or has no single value. */
export function findOnly(trace: Trace, item: ItemName): unknown {
  if (readState(trace, item) !== 'set') return null
  return emptyToNull(trace.config.items[item]?.[0])
}

interface Weighed {
  rule: RuleName
  holds: Cond
}

function weigh(trace: Trace, parts: Part[]): Weighed[] {
  return parts.map(({ rule, holds }) => ({ rule, holds: trace.ask(holds) }))
}

interface Named {
  rule: RuleName | null
  also: RuleName[]
  maybe: RuleName[]
}

/** Names the rule of a check, and the other entries that match or may match. */
function nameRules(trace: Trace, item: CheckName, result: Answer): Named {
  const value = findOnly(trace, item)
  if (value === null) return { rule: null, also: [], maybe: [] }
  const check = getCheck(item)
  const parts = weigh(trace, check.parts?.(value as never) ?? [])
  const entries = weigh(trace, check.entries?.(value as never) ?? [])
  const entriesPass = check.entriesPass?.(value as never) ?? false
  const matching = entries.filter(({ holds }) => isYes(holds))
  const rule = findRule(item, result, parts, matching, entriesPass)
  return {
    rule,
    also: matching.map((entry) => entry.rule).filter((other) => other !== rule),
    maybe: entries.filter(({ holds }) => !holds.known).map((entry) => entry.rule),
  }
}

function findRule(
  item: CheckName,
  result: Answer,
  parts: Weighed[],
  matching: Weighed[],
  entriesPass: boolean,
): RuleName | null {
  if (!('value' in result)) return null
  const [first] = matching
  if (result.value === 'pass') return entriesPass ? (first?.rule ?? null) : null
  const part = parts.find(({ holds }) => isYes(holds))
  return part?.rule ?? (entriesPass ? undefined : first?.rule) ?? nameRule(item, '')
}

/** The entry that exempts a request from a check that would deny it. */
function nameExempt(trace: Trace, item: CheckName, result: Answer): RuleName | null {
  if (!('value' in result) || result.value !== 'pass') return null
  if (!isYes(trace.ask((world) => denies(world, item)))) return null
  const value = findOnly(trace, 'visit_deny_whitelist')
  if (!Array.isArray(value)) return nameRule('visit_deny_whitelist', '')
  const entries = value.map((entry: { url: unknown; turn_on: boolean }, i) => ({
    rule: nameRule('visit_deny_whitelist', `/${i}`, entry.url),
    holds: (world: World) => (entry.turn_on ? matchExempt(world, entry.url, i) : no),
  }))
  const matching = weigh(trace, entries).find(({ holds }) => isYes(holds))
  return matching?.rule ?? nameRule('visit_deny_whitelist', '')
}

function traceCheck(trace: Trace, item: CheckName): Record<string, unknown> {
  const result = report(trace, (world) =>
    map(isDenied(world, item), (denied) => (denied ? 'deny' : 'pass')),
  )
  const state = isItemName(item) ? readState(trace, item) : 'absent'
  const { rule, also, maybe } = nameRules(trace, item, result)
  return { item, state, result, exempt: nameExempt(trace, item, result), also, maybe, rule }
}

export function traceAccess(trace: Trace): Record<string, unknown> {
  return {
    decision: report(trace, (world) =>
      map(isAccessDenied(world), (denied) => (denied ? 'denied' : 'allowed')),
    ),
    deciding: report(trace, readDeciding),
    checks: checkNames.map((item) => traceCheck(trace, item)),
  }
}
