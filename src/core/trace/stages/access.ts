import type { VisitDenyWhitelist } from '../../catalog/generated/items.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { toList } from '../../model/json.ts'
import { all, any, map, not, some, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import { antiLeechKeys, checkKeys } from '../check-keys.ts'
import { fold, ignoresCase } from '../match/case.ts'
import { chooseForm } from '../match/url.ts'
import { createRule, type Rule } from '../rule.ts'
import type { Run } from '../run.ts'
import { compileCheck, type Check, type CheckPart } from './checks.ts'
import { seeUrl } from './seen.ts'

/** Tests whether a check denies the request, before any exemption. */
function denies(run: Run, check: Check): Answer<boolean> {
  const { parts, isWhite = false, applies, isEmpty } = check
  const matches = (isEntry: boolean) =>
    some(parts, (part) => part.isEntry === isEntry && part.matches(run))
  return all(
    () => applies?.(run) ?? true,
    () =>
      any(
        () => matches(false),
        () =>
          all(
            () => not(isEmpty?.(run) ?? false),
            () => (isWhite ? not(matches(true)) : matches(true)),
          ),
      ),
  )
}

/** Tests whether a part of a check matches by itself. */
function matchPart(run: Run, { applies, isEmpty }: Check, part: CheckPart): Answer<boolean> {
  return all(
    () => applies?.(run) ?? true,
    () => !part.isEntry || not(isEmpty?.(run) ?? false),
    () => part.matches(run),
  )
}

function readCheck(run: Run, item: ItemKey): Answer<Check | null> {
  return map(run.item(item), (value) => compileValue(item, value))
}

function compileValue(item: ItemKey, value: Value): Check | null {
  return typeof value === 'object' && value !== null ? compileCheck(item, value) : null
}

/** The result of a check: true for *deny*. */
export function readResult(run: Run, item: ItemKey): Answer<boolean> {
  return run.keep(`check ${item}`, () => {
    const check = readCheck(run, item)
    if (check === null) return false
    return all(
      () => map(check, (known) => known !== null && denies(run, known)),
      () => not(isExempt(run, item)),
    )
  })
}

/** Tests whether the request is exempt from a check (R18). */
function isExempt(run: Run, item: ItemKey): Answer<boolean> {
  if (!antiLeechKeys.includes(item) && run.reading('R18') === 'anti-leech') return false
  return run.read('visit_deny_whitelist', false, (urls) =>
    some(urls, ({ url }, i) => matchExempt(run, url, i)),
  )
}

/** Tests whether an exempt URL is the request's, with or without its query (R19). */
function matchExempt(run: Run, entry: string, i: number): Answer<boolean> {
  return map(seeUrl(run), ({ forms }) => {
    const { path, full } = chooseForm(run, forms)
    const seen = entry.includes('?') || run.reading('R19') === 'exact' ? full : path
    if (seen === null) return new Unknown([`undecidable visit_deny_whitelist/${i}/url`])
    const folds = ignoresCase(run, 'R6')
    return fold(entry, folds) === fold(seen, folds)
  })
}

/** The decision of all checks: true for *denied*. */
export function isDenied(run: Run): Answer<boolean> {
  return some(checkKeys, (item) => readResult(run, item))
}

/** The check that denies the request; null if none does (R15). */
export function findDeciding(run: Run): Answer<ItemKey | null> {
  const order = run.settled('R15')
  const ranked: readonly ItemKey[] = order === 'listed' ? checkKeys : toList(order).map(String)
  const unknown: Unknown[] = []
  for (const item of ranked) {
    const result = readResult(run, item)
    if (result instanceof Unknown) unknown.push(result)
    else if (result) return uniteUnknown(unknown) ?? item
  }
  return uniteUnknown(unknown)
}

/** What is shown of a check. */
export interface CheckReport {
  item: ItemKey
  state: 'set' | 'absent' | 'unmanaged' | 'in-doubt'
  exempt: Rule | null
  also: Rule[]
  maybe: Rule[]
  rule: Rule | null
}

/** Answers something for all that is in doubt. */
type Ask = <T>(read: (run: Run) => Answer<T>) => Answer<T>

/**
 * Reports a check: the rule that decides its result, and others that match.
 *
 * @param answer the result of the check
 * @param value the only candidate of its item, and that of `visit_deny_whitelist`
 */
export function reportCheck(
  ask: Ask,
  item: ItemKey,
  answer: Answer<unknown>,
  state: CheckReport['state'],
  value: Value,
  exempting: Value,
): CheckReport {
  const report: CheckReport = { item, state, exempt: null, also: [], maybe: [], rule: null }
  const check = compileValue(item, value)
  const result = map(answer, (word) => word === 'deny')
  if (result === false) report.exempt = findExempt(ask, item, exempting)
  if (state !== 'set' || check === null) return report
  const matches = check.parts.map((part) => ({
    rule: createRule(item, part.pointer, part.pattern),
    isEntry: part.isEntry,
    match: ask((run) => matchPart(run, check, part)),
  }))
  report.rule = findRule(item, result, check.isWhite === true, matches)
  for (const { rule, match, isEntry } of matches) {
    if (isEntry && match === true && rule !== report.rule) report.also.push(rule)
    if (isEntry && match instanceof Unknown) report.maybe.push(rule)
  }
  return report
}

/** The rule that decides: the first that denies by itself, or lets pass; otherwise the item. */
function findRule(
  item: ItemKey,
  result: Answer<boolean>,
  isWhite: boolean,
  matches: { rule: Rule; isEntry: boolean; match: Answer<boolean> }[],
): Rule | null {
  if (result instanceof Unknown) return null
  const named = matches.filter(({ match }) => match === true)
  if (isWhite && !result) return named.find(({ isEntry }) => isEntry)?.rule ?? null
  if (!result) return null
  return named.find(({ isEntry }) => !isWhite || !isEntry)?.rule ?? createRule(item)
}

/** The entry that exempts a request that would be denied; null if none does. */
function findExempt(ask: Ask, item: ItemKey, exempting: Value): Rule | null {
  const isDenying = (run: Run) =>
    map(readCheck(run, item), (known) => known !== null && denies(run, known))
  if (ask(isDenying) !== true || ask((run) => isExempt(run, item)) !== true) return null
  const key = 'visit_deny_whitelist'
  const urls = Array.isArray(exempting) ? (exempting as VisitDenyWhitelist) : []
  const at = urls.findIndex(({ url }, i) => ask((run) => matchExempt(run, url, i)) === true)
  return at < 0 ? createRule(key) : createRule(key, `/${at}`, urls[at]?.url)
}
