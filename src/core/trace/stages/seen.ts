import type { SourceUrlRewrite } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import { choose, isSameAnswer, map, Unknown, type Answer } from '../answer.ts'
import type { Evaluation, Question, Questions } from '../evaluation.ts'
import { agree, findDeciders } from '../first-match.ts'
import { byCase } from '../match/case.ts'
import { chooseForm, type Subject } from '../match/url.ts'
import { findParts, matchRegex, Regex } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { createRule, type Rule } from '../rule.ts'
import { formatFull } from '../url.ts'
import { createSubject, strip } from './signature.ts'

/** The URL as items see it (R37). */
export function askSeen(q: Questions): Question<Answer<Subject>> {
  return q.keep('seen', '', () =>
    q.ask((e) => {
      const asSent = e.facts
      if (e.items.get('visit_timestamp')?.every((value) => value === null) === true) return asSent
      if (e.reading('R37') === 'as-sent') return asSent
      return map(strip(e), (url) => (url === asSent.url ? asSent : createSubject(url)))
    }),
  )
}

/** Path and query after the rules of `source_url_rewrite`, and the rule that rewrote them. */
export interface Rewritten {
  [name: string]: unknown
  full: Answer<string>
  isRewritten: Answer<boolean>
  rule: Answer<Rule | null>
}

/** Path and query as the rules of `source_url_rewrite` leave them (request semantics, 3.5). */
export function askRewritten(q: Questions): Question<Rewritten> {
  return q.keep('rewritten', '', () =>
    q.askAll((e) => {
      const value = e.item('source_url_rewrite')
      if (value instanceof Unknown) return everything(value)
      const subject = e.ask(askSeen(q))
      if (value === null) {
        const full = map(subject, ({ url }) => formatFull(url))
        return { full, isRewritten: false, rule: null }
      }
      if (subject instanceof Unknown) return everything(subject)
      return rewrite(e, compileRules(castAccepted<SourceUrlRewrite>(value)), subject)
    }),
  )
}

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

function rewrite(e: Evaluation, rules: RewriteRule[], { url, forms }: Subject): Rewritten {
  const { full } = chooseForm(e, forms)
  const matches = rules.map((rule) => matchRule(e, rule, full))
  const unchanged = formatFull(url)
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
    full: each((rule) => (rule === null ? unchanged : fill(e, rule, full ?? ''))),
    isRewritten: each((rule) => rule !== null),
    rule: each((rule) => rule?.rule ?? null),
  }
}

function matchRule(e: Evaluation, { regex }: RewriteRule, full: string | null): Answer<boolean> {
  return byCase(e, 'R6', (ignoresCase) => matchRegex(e, regex, full, ignoresCase, 'R4'))
}

/** Applies each rule in turn to the result so far. */
function chain(
  e: Evaluation,
  rules: RewriteRule[],
  start: string | null,
  unchanged: string,
): Rewritten {
  const first: Rewritten = { full: start ?? unchanged, isRewritten: false, rule: null }
  const last = rules.reduce<Rewritten>((before, each) => {
    const matches = map(before.full, (text) => matchRule(e, each, start === null ? null : text))
    return {
      full: choose(
        matches,
        () => map(before.full, (text) => fill(e, each, text)),
        () => before.full,
      ),
      rule: choose<Rule | null>(
        matches,
        () => each.rule,
        () => before.rule,
      ),
      isRewritten: choose(
        matches,
        () => true,
        () => before.isRewritten,
      ),
    }
  }, first)
  return last.isRewritten === false ? { ...last, full: unchanged } : last
}

/** Fills the target of a rule that matches (R59). */
function fill(e: Evaluation, { regex, target }: RewriteRule, full: string): Answer<string> {
  const find = (ignoresCase: boolean) => findParts(e, regex, full, ignoresCase)
  const sensitive = find(false)
  const insensitive = find(true)
  const isSame = isSameAnswer(sensitive, insensitive) || sensitive === null
  const parts = isSame || e.reading('R6') === 'insensitive' ? insensitive : sensitive
  const filled = /\$\d/.test(target)
    ? map(parts, (found) =>
        target.replace(/\$\d+/g, (text) => fillGroup(text, found?.groups ?? [])),
      )
    : target
  if (parts !== null && !(parts instanceof Unknown) && parts.end - parts.start === full.length)
    return filled
  if (e.reading('R59') === 'replace') return filled
  return map(filled, (text) =>
    map(parts, (found) =>
      found === null ? full : full.slice(0, found.start) + text + full.slice(found.end),
    ),
  )
}

/** Fills `$n`: the longest number that is a group; what follows stays. */
function fillGroup(text: string, groups: string[]): string {
  for (let end = text.length; end > 1; end--) {
    const number = Number(text.slice(1, end))
    if (number >= 1 && number < groups.length) return (groups[number] ?? '') + text.slice(end)
  }
  return text
}
