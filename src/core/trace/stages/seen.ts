import type { SourceUrlRewrite } from '../../catalog/generated/items.ts'
import { any, choose, map, Unknown, type Answer } from '../answer.ts'
import { agree, findDeciders } from '../first-match.ts'
import { ignoresCase } from '../match/case.ts'
import { findParts, matchRegex, Regex } from '../match/regex.ts'
import { chooseForm, type Subject } from '../match/url.ts'
import { remember } from '../remember.ts'
import { createRule, type Rule } from '../rule.ts'
import type { Run } from '../run.ts'
import { buildForms, formatFull, type RequestUrl } from '../url.ts'
import { strip } from './signature.ts'

/** The URL as items see it (R37). */
export function seeUrl(run: Run): Answer<Subject> {
  return run.once(findSeen)
}

function findSeen(run: Run): Answer<Subject> {
  const { facts } = run
  if (run.item('visit_timestamp') === null || run.reading('R37') === 'as-sent') return facts
  return map(strip(run), (url) => (url === facts.url ? facts : createSubject(url)))
}

/** A URL with its forms. */
export function createSubject(url: RequestUrl): Subject {
  return { url, forms: buildForms(url) }
}

/** Path and query after the rules of `source_url_rewrite`, and the rule that rewrote them. */
interface Rewritten<T = string> {
  full: Answer<T>
  isRewritten: Answer<boolean>
  rule: Answer<Rule | null>
}

/** Path and query as the rules of `source_url_rewrite` leave them (request semantics, 3.5). */
export function rewriteUrl(run: Run): Rewritten {
  return run.once(rewriteSeen)
}

function rewriteSeen(run: Run): Rewritten {
  const rules = run.read('source_url_rewrite', [], compileRules)
  if (rules instanceof Unknown) return { full: rules, isRewritten: rules, rule: rules }
  const unchanged = map(seeUrl(run), ({ url }) => formatFull(url))
  if (rules.length === 0) return { full: unchanged, isRewritten: false, rule: null }
  const start = map(seeUrl(run), ({ forms }) => chooseForm(run, forms).full)
  const choice = run.reading('R58')
  if (choice === 'chain') {
    const { full, ...last } = chain(run, rules, start)
    const isUnchanged = last.isRewritten === false
    return { ...last, full: isUnchanged ? unchanged : map(full, (text) => text ?? unchanged) }
  }
  const ordered = choice === 'first' ? rules : rules.toReversed()
  const found = findDeciders(ordered, (each) => matchRule(run, each, start))
  return {
    full: agree(found, (each) => (each === null ? unchanged : fill(run, each, start))),
    isRewritten: agree(found, (each) => each !== null),
    rule: agree(found, (each) => each?.rule ?? null),
  }
}

interface RewriteRule {
  regex: Regex
  target: string
  rule: Rule
}

const compileRules = remember((rules: SourceUrlRewrite): RewriteRule[] =>
  rules.map(({ origin_url: pattern, target_url: target }, i) => ({
    regex: new Regex(pattern, `source_url_rewrite/${i}`),
    target,
    rule: createRule('source_url_rewrite', `/${i}`, pattern),
  })),
)

/** Path and query that rules see; null in a form that is not printable. */
type Full = Answer<string | null>

function matchRule(run: Run, { regex }: RewriteRule, full: Full): Answer<boolean> {
  if (regex.matchesAll) return true
  return map(full, (text) => matchRegex(run, regex, text, ignoresCase(run, 'R6'), 'R4'))
}

/** Applies each rule in turn to the result so far. */
function chain(run: Run, rules: RewriteRule[], start: Full): Rewritten<string | null> {
  return rules.reduce<Rewritten<string | null>>(
    ({ full, isRewritten, rule }, each) => {
      const matches = matchRule(run, each, full)
      return {
        full: choose(matches, () => fill(run, each, full), full),
        isRewritten: any(isRewritten, matches),
        rule: choose(matches, each.rule, rule),
      }
    },
    { full: start, isRewritten: false, rule: null },
  )
}

/** Fills the target of a rule that matches (R59). */
function fill(run: Run, { regex, target }: RewriteRule, full: Full): Answer<string> {
  const replaces = run.reading('R59') === 'replace'
  if (replaces && !/\$[1-9]/.test(target)) return target
  return map(full, (text) => {
    if (text === null) return regex.undecidable
    return map(findParts(run, regex, text, ignoresCase(run, 'R6')), (found) => {
      const filled = target.replace(/\$\d+/g, (name) => fillGroup(name, found?.groups ?? []))
      if (replaces || found === null) return filled
      return text.slice(0, found.start) + filled + text.slice(found.end)
    })
  })
}

/** Fills `$n`: the longest number that is a group; what follows stays. */
function fillGroup(text: string, groups: string[]): string {
  for (let end = text.length; end > 1; end--) {
    const number = Number(text.slice(1, end))
    if (number >= 1 && number < groups.length) return (groups[number] ?? '') + text.slice(end)
  }
  return text
}
