import type { VisitDenyWhitelist } from '../../catalog/generated/items.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { toList } from '../../model/json.ts'
import { all, any, map, not, some, Unknown, type Answer } from '../answer.ts'
import { antiLeechKeys, checkKeys } from '../check-keys.ts'
import { agree, findDeciders } from '../first-match.ts'
import { fold, ignoresCase } from '../match/case.ts'
import { chooseForm } from '../match/url.ts'
import { createRule, type Rule } from '../rule.ts'
import type { Run } from '../run.ts'
import { compileCheck, type Check, type CheckPart } from './checks.ts'
import { seeUrl } from './seen.ts'

/** Tests whether a check denies the request, before any exemption. */
function denies(run: Run, check: Check): Answer<boolean> {
  const matches = (part: CheckPart) => part.matches(run)
  return all(check.applies(run), () =>
    any(some(check.fields, matches), () =>
      all(not(check.isEmpty(run)), () => {
        const isListed = some(check.entries, matches)
        return check.isWhite ? not(isListed) : isListed
      }),
    ),
  )
}

function isDenying(run: Run, item: ItemKey): Answer<boolean> {
  return map(run.item(item), (value) => {
    const check = compileCheck(item, value)
    return check !== null && denies(run, check)
  })
}

/** The result of a check: true for *deny*. */
export function readResult(run: Run, item: ItemKey): Answer<boolean> {
  return run.keep(item, () => all(isDenying(run, item), () => not(isExempt(run, item))))
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
  return agree(
    findDeciders(ranked, (item) => readResult(run, item)),
    (item) => item,
  )
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
  const exempt = answer === 'pass' ? findExempt(ask, item, exempting) : null
  const check = state === 'set' ? compileCheck(item, value) : null
  if (check === null) return { item, state, exempt, also: [], maybe: [], rule: null }
  const { fields, entries, isWhite, applies, isEmpty } = check
  const parts = [...fields, ...entries].map(({ pointer, pattern, matches }, i) => {
    const isEntry = i >= fields.length
    const isSeen = (run: Run) => all(applies(run), () => !isEntry || not(isEmpty(run)))
    return {
      rule: createRule(item, pointer, pattern),
      isEntry,
      match: ask((run) => all(isSeen(run), () => matches(run))),
    }
  })
  const deciding = parts.find(
    ({ match, isEntry }) => match === true && (isEntry && isWhite) === (answer === 'pass'),
  )
  const none = answer === 'deny' ? createRule(item) : null
  const rule = answer instanceof Unknown ? null : (deciding?.rule ?? none)
  const list = (isListed: (match: Answer<boolean>) => boolean) =>
    parts
      .filter((part) => part.isEntry && part.rule !== rule && isListed(part.match))
      .map((part) => part.rule)
  const also = list((match) => match === true)
  return { item, state, exempt, also, maybe: list((match) => match instanceof Unknown), rule }
}

/** The entry that exempts a request that would be denied; null if none does. */
function findExempt(ask: Ask, item: ItemKey, exempting: Value): Rule | null {
  const isPassed = [isDenying, isExempt].every((test) => ask((run) => test(run, item)) === true)
  if (!isPassed) return null
  const key = 'visit_deny_whitelist'
  const urls = Array.isArray(exempting) ? (exempting as VisitDenyWhitelist) : []
  const at = urls.findIndex(({ url }, i) => ask((run) => matchExempt(run, url, i)) === true)
  return at < 0 ? createRule(key) : createRule(key, `/${at}`, urls[at]?.url)
}
