import type { SourceUrlRewrite } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import { choose, isSameAnswer, map, mapBoth, Unknown, type Answer } from '../answer.ts'
import { askOnce, type Evaluation, type Question, type Questions } from '../evaluation.ts'
import { agree, findDeciders } from '../first-match.ts'
import { byCase } from '../match/case.ts'
import { chooseForm, type Subject } from '../match/url.ts'
import { findParts, matchRegex, Regex, type Match } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { createRule, type Rule } from '../rule.ts'
import { formatFull } from '../url.ts'
import { createSubject, strip } from './signature.ts'

/** The URL as items see it (R37). */
export const askSeen = askOnce<Subject>((e) => {
  const asSent = e.facts
  if (e.items.get('visit_timestamp')?.every((value) => value === null) === true) return asSent
  if (e.reading('R37') === 'as-sent') return asSent
  return map(strip(e), (url) => (url === asSent.url ? asSent : createSubject(url)))
})

/** Path and query after the rules of `source_url_rewrite`, and the rule that rewrote them. */
export interface Rewritten {
  [name: string]: unknown
  full: Answer<string>
  isRewritten: Answer<boolean>
  rule: Answer<Rule | null>
}

/** Path and query as the rules of `source_url_rewrite` leave them (request semantics, 3.5). */
export const askRewritten = remember((q: Questions): Question<Rewritten> =>
  q.askAll((e) => {
    const value = e.item('source_url_rewrite')
    if (value instanceof Unknown) return everything(value)
    const subject = e.ask(askSeen(q))
    if (value === null) {
      const full = map(subject, ({ url }) => formatFull(url))
      return { full, isRewritten: false, rule: null }
    }
    return rewrite(e, compileRules(castAccepted<SourceUrlRewrite>(value)), subject)
  }),
)

function everything(unknown: Unknown): Rewritten {
  return { full: unknown, isRewritten: unknown, rule: unknown }
}

interface RewriteRule {
  regex: Regex
  target: string
  rule: Rule
}

const compileRules = remember((rules: SourceUrlRewrite): RewriteRule[] =>
  rules.map(({ origin_url, target_url }, i) => ({
    regex: new Regex(origin_url, `source_url_rewrite/${i}`),
    target: target_url,
    rule: createRule('source_url_rewrite', `/${i}`, origin_url),
  })),
)

function rewrite(e: Evaluation, rules: RewriteRule[], subject: Answer<Subject>): Rewritten {
  const full = map(subject, ({ forms }) => chooseForm(e, forms).full)
  const matches = rules.map((rule) => matchRule(e, rule, full))
  const unchanged = map(subject, ({ url }) => formatFull(url))
  const count = matches.filter((match) => match !== false).length
  if (count === 0) return { full: unchanged, isRewritten: false, rule: null }
  const order = rules.map((rule, i) => ({ rule, matches: matches[i] ?? false }))
  const choice = rules.length === 1 ? 'first' : e.reading('R58')
  if (choice === 'chain') return chain(e, rules, full, unchanged)
  const { deciders, unknown } = findDeciders(
    choice === 'first' ? order : order.toReversed(),
    (entry) => entry.matches,
  )
  const each = <T>(read: (rule: RewriteRule | null) => Answer<T>) =>
    agree(
      deciders.map((entry) => read(entry?.rule ?? null)),
      unknown,
    )
  return {
    full: each((rule) => (rule === null ? unchanged : fill(e, rule, full))),
    isRewritten: each((rule) => rule !== null),
    rule: each((rule) => rule?.rule ?? null),
  }
}

/** Path and query that rules see; null in a form that is not printable. */
type Full = Answer<string | null>

function matchRule(e: Evaluation, { regex }: RewriteRule, full: Full): Answer<boolean> {
  if (regex.matchesAll) return true
  return map(full, (text) =>
    byCase(e, 'R6', (ignoresCase) => matchRegex(e, regex, text, ignoresCase, 'R4')),
  )
}

/** Applies each rule in turn to the result so far. */
function chain(
  e: Evaluation,
  rules: RewriteRule[],
  start: Full,
  unchanged: Answer<string>,
): Rewritten {
  let full = start
  let rule: Answer<Rule | null> = null
  let isRewritten: Answer<boolean> = false
  for (const each of rules) {
    const last: Pick<Rewritten, 'rule' | 'isRewritten'> = { rule, isRewritten }
    const before: Full = full
    const matches: Answer<boolean> = matchRule(e, each, before)
    full = choose<string | null>(
      matches,
      () => fill(e, each, before),
      () => before,
    )
    rule = choose<Rule | null>(
      matches,
      () => each.rule,
      () => last.rule,
    )
    isRewritten = choose(
      matches,
      () => true,
      () => last.isRewritten,
    )
  }
  return {
    full: isRewritten === false ? unchanged : map(full, (text) => text ?? unchanged),
    isRewritten,
    rule,
  }
}

/** Fills the target of a rule that matches (R59). */
function fill(e: Evaluation, { regex, target }: RewriteRule, full: Full): Answer<string> {
  const parts = map(full, (text) =>
    text === null ? regex.undecidable : findPartsByCase(e, regex, text),
  )
  const filled = /\$[1-9]/.test(target)
    ? map(parts, (found) =>
        target.replace(/\$\d+/g, (text) => fillGroup(text, found?.groups ?? [])),
      )
    : target
  const text = full instanceof Unknown ? '' : (full ?? '')
  const isWhole = map(parts, (found) => found !== null && found.end - found.start === text.length)
  if (isWhole === true || e.reading('R59') === 'replace') return filled
  return mapBoth(filled, parts, (written, found) =>
    found === null ? text : text.slice(0, found.start) + written + text.slice(found.end),
  )
}

function findPartsByCase(e: Evaluation, regex: Regex, full: string): Answer<Match | null> {
  const [sensitive, insensitive] = [false, true].map((folds) => findParts(e, regex, full, folds))
  const isSame = isSameAnswer(sensitive, insensitive) || sensitive === null
  return (isSame || e.reading('R6') === 'insensitive' ? insensitive : sensitive) ?? null
}

/** Fills `$n`: the longest number that is a group; what follows stays. */
function fillGroup(text: string, groups: string[]): string {
  for (let end = text.length; end > 1; end--) {
    const number = Number(text.slice(1, end))
    if (number >= 1 && number < groups.length) return (groups[number] ?? '') + text.slice(end)
  }
  return text
}
