import { toList } from '../../model/json.ts'
import type { VisitDenyWhitelist } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import {
  all,
  any,
  isSameAnswer,
  map,
  not,
  some,
  Unknown,
  uniteUnknown,
  type Answer,
} from '../answer.ts'
import { askOnce, type Evaluation, type Question, type Questions } from '../evaluation.ts'
import { isUnknownValue } from '../evaluation.ts'
import { byCase, fold } from '../match/case.ts'
import { chooseForm } from '../match/url.ts'
import { createRule, type Rule } from '../rule.ts'
import { checks, type Check, type CheckPart } from './checks.ts'
import { askSeen } from './seen.ts'

/** Asks whether a check denies the request, before any exemption. */
function askDenies(q: Questions, item: ItemKey, check: Check): Question<Answer<boolean>> {
  return q.keep(check, `denies ${item}`, () =>
    q.ask((e) =>
      map(e.item(item), (value) => (value === null ? false : check.denies(e, q, value))),
    ),
  )
}

/** Asks for the result of a check: true for *deny*. */
export function askResult(q: Questions, item: ItemKey, check: Check): Question<Answer<boolean>> {
  return q.keep(check, `result ${item}`, () =>
    q.ask((e) => {
      const value = e.item(item)
      const denies =
        value instanceof Unknown ? value : value === null ? false : check.denies(e, q, value)
      if (denies === false) return false
      return all(
        () => denies,
        () => not(isExempt(e, q, check)),
      )
    }),
  )
}

/** Tests whether the request is exempt from a check (R18). */
function isExempt(e: Evaluation, q: Questions, check: Check): Answer<boolean> {
  const exempt = e.ask(askExempt(q))
  if (exempt === false || check.isAntiLeech === true) return exempt
  return e.reading('R18') === 'every' ? exempt : false
}

/** Asks whether an entry of `visit_deny_whitelist` matches. */
const askExempt = askOnce<boolean>((e, q) =>
  map(e.item('visit_deny_whitelist'), (value) =>
    value === null ? false : some(listUrls(value), (url, i) => matchExempt(e, q, url, i)),
  ),
)

function listUrls(value: Value): string[] {
  return castAccepted<VisitDenyWhitelist>(value).map(({ url }) => url)
}

/** Tests whether an exempt URL is the request's, with or without its query (R19). */
function matchExempt(e: Evaluation, q: Questions, entry: string, i: number): Answer<boolean> {
  return map(e.ask(askSeen(q)), ({ forms }) => {
    const { path, full } = chooseForm(e, forms)
    const isEqual = (text: string | null): Answer<boolean> =>
      text === null
        ? new Unknown([`undecidable visit_deny_whitelist/${i}/url`])
        : byCase(e, 'R6', (folds) => fold(entry, folds) === fold(text, folds))
    const exact = isEqual(full)
    const alone = entry.includes('?') ? exact : isEqual(path)
    return isSameAnswer(exact, alone) || e.reading('R19') === 'exact' ? exact : alone
  })
}

/** Asks for the decision of all checks: true for *denied*. */
export const askDenied = askOnce<boolean>((e, q) =>
  any(
    ...checks.map(
      ([item, check]) =>
        () =>
          e.ask(askResult(q, item, check)),
    ),
  ),
)

/** Asks which check denies the request; null if none does (R15). */
export const askDeciding = askOnce<ItemKey | null>((e, q) => {
  const results = checks.map(([item, check]) => ({
    item,
    result: e.ask(askResult(q, item, check)),
  }))
  const denying = results.filter(({ result }) => result === true)
  const unknown = results.filter(({ result }) => result instanceof Unknown)
  if (denying.length === 0 && unknown.length === 0) return null
  if (denying.length === 1 && unknown.length === 0) return denying[0]?.item ?? null
  const reasons = uniteUnknown(unknown.map(({ result }) => result))
  if (denying.length === 0 && unknown.length === 1 && reasons !== null) return reasons
  const order = e.open('R15')
  if (order instanceof Unknown) return uniteUnknown([reasons, order]) ?? order
  const ranked = toList(order).flatMap((name) => results.filter(({ item }) => item === name))
  const first = ranked.find(({ result }) => result !== false)
  return first?.result === true ? first.item : (reasons ?? null)
})

/** What is shown of a check. */
export interface CheckReport {
  item: ItemKey
  state: 'set' | 'absent' | 'unmanaged' | 'in-doubt'
  exempt: Rule | null
  also: Rule[]
  maybe: Rule[]
  rule: Rule | null
}

/** Reports one check: the rule that decides its result, and others that match. */
export function reportCheck(
  e: Evaluation,
  q: Questions,
  [item, check]: [ItemKey, Check],
  result: Answer<boolean>,
): CheckReport {
  const state = findState(e, item)
  const report: CheckReport = {
    item,
    state,
    exempt: result === false ? findExempt(e, q, item, check) : null,
    also: [],
    maybe: [],
    rule: null,
  }
  const value = e.items.get(item)?.[0] ?? null
  if (state !== 'set' || isUnknownValue(value) || value === null) return report
  const matches = askParts(q, item, check, value).map(({ part, ask }) => ({
    rule: createRule(item, part.pointer, part.pattern),
    isEntry: part.isEntry,
    match: e.ask(ask),
  }))
  const isWhite = check.isWhite?.(value) === true
  report.rule = findRule(item, result, isWhite, matches)
  for (const { rule, match, isEntry } of matches) {
    if (isEntry && match === true && rule !== report.rule) report.also.push(rule)
    if (isEntry && match instanceof Unknown) report.maybe.push(rule)
  }
  return report
}

function askParts(
  q: Questions,
  item: ItemKey,
  check: Check,
  value: Value,
): { part: CheckPart; ask: Question<Answer<boolean>> }[] {
  return q.keep(value, `parts ${item}`, () =>
    check.listParts(value).map((part) => ({ part, ask: q.ask((e) => part.matches(e, q)) })),
  )
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

function findState(e: Evaluation, item: ItemKey): CheckReport['state'] {
  const candidates = e.items.get(item)
  if (candidates === undefined) return e.settings.isTakenAsAbsent(item) ? 'absent' : 'unmanaged'
  const [value] = candidates
  if (candidates.length !== 1 || isUnknownValue(value ?? null)) return 'in-doubt'
  return value === null ? 'absent' : 'set'
}

/** The entry that exempts a request that would be denied; null if none does. */
function findExempt(e: Evaluation, q: Questions, item: ItemKey, check: Check): Rule | null {
  if (e.ask(askDenies(q, item, check)) !== true || e.ask(askExempt(q)) !== true) return null
  const key = 'visit_deny_whitelist'
  const value = e.items.get(key)?.[0] ?? null
  if (findState(e, key) !== 'set' || isUnknownValue(value)) return createRule(key)
  const entries = q.keep(value, 'entries', () =>
    listUrls(value).map((url, i) => ({
      rule: createRule(key, `/${i}`, url),
      ask: q.ask((each) => matchExempt(each, q, url, i)),
    })),
  )
  return entries.find(({ ask }) => e.ask(ask) === true)?.rule ?? createRule(key)
}
