import { parseCore } from './core-regex.ts'
import { nameRule, type Items, type RuleName } from './items.ts'
import { compile, isInsensitive, matchRegex, readText, type RegexUse } from './matching.ts'
import {
  both,
  choose,
  find,
  firstMatch,
  known,
  map,
  bind,
  unknown,
  type Lazy,
  type Result,
} from './result.ts'
import { seen } from './seen.ts'
import { readSubject, type Source } from './subjects.ts'
import type { World } from './trace.ts'
import { joinQuery, splitQuery } from './url.ts'

type Rules = Items['source_url_rewrite']
type Rule = Rules[number]

/** A rewritten Q and the rule that gave it; null: no rule rewrites. */
interface Rewritten {
  text: Result<string>
  rule: RuleName
}

function createUse(world: World, pattern: string, i: number): RegexUse {
  const where = `source_url_rewrite/${i}`
  return { pattern, ci: isInsensitive(world), where, extent: 'R4' }
}

function readQ(world: World, i: number): Result<string> {
  const reason = `undecidable source_url_rewrite/${i}`
  return readSubject(world, seen, 'path-and-query', reason)
}

/** Applies a rule that matches. */
function apply(world: World, rule: Rule, i: number, subject: Result<string>): Result<string> {
  return both(
    readText(world, rule.origin_url),
    readText(world, rule.target_url),
    (pattern, target) => {
      const isReplaced = world.is('R59', 'replace')
      const needsMatch = !isReplaced || /\$[1-9]/.test(target)
      if (!needsMatch) return known(target)
      return bind(subject, (text) => {
        const use = createUse(world, pattern, i)
        const regex = compile(world, use, text)
        if (regex === null) return unknown(`undecidable ${use.where}`)
        const shape = parseCore(pattern)
        if (shape !== null && shape.repeatsGroup && world.is('R1', 'core'))
          return unknown(`undecidable source_url_rewrite/${i}`)
        const match = regex.exec(text)
        if (match === null) return unknown(`undecidable ${use.where}`)
        const filled = fill(target, match)
        if (isReplaced) return known(filled)
        const end = match.index + match[0].length
        return known(text.slice(0, match.index) + filled + text.slice(end))
      })
    },
  )
}

/** Fills groups into a target: `$n` is the longest number that is a group. */
function fill(target: string, match: RegExpExecArray): string {
  return target.replace(/\$([1-9]\d*)/g, (text, digits: string) => {
    for (let length = digits.length; length > 0; length--) {
      const n = Number(digits.slice(0, length))
      if (n < match.length) return (match[n] ?? '') + digits.slice(length)
    }
    return text
  })
}

/** Evaluates the rules in the order that R58 gives, and picks what is asked for. */
function evaluate<T>(
  world: World,
  pick: (rewritten: Rewritten) => Result<T>,
  none: Lazy<T>,
): Result<T> {
  return bind(world.item('source_url_rewrite'), (value) => {
    const rules = (value ?? []).map((rule, i) => ({ rule, i }))
    if (rules.length === 0) return find(none)
    const way = rules.length === 1 ? 'first' : world.reading('R58')
    if (way === 'chain') return chain(world, rules, pick, none)
    const candidates = (way === 'first' ? rules : rules.toReversed()).map(({ rule, i }) => ({
      match: matchRule(world, rule, i, readQ(world, i)),
      field: () =>
        pick({ text: apply(world, rule, i, readQ(world, i)), rule: createName(rule, i) }),
    }))
    return firstMatch(candidates, none)
  })
}

function createName(rule: Rule, i: number): RuleName {
  return nameRule('source_url_rewrite', `/${i}`, rule.origin_url)
}

function matchRule(world: World, rule: Rule, i: number, subject: Result<string>): Result<boolean> {
  return bind(readText(world, rule.origin_url), (pattern) =>
    matchRegex(world, createUse(world, pattern, i), subject),
  )
}

/** Each rule in turn on the result so far. */
function chain<T>(
  world: World,
  rules: { rule: Rule; i: number }[],
  pick: (rewritten: Rewritten) => Result<T>,
  none: Lazy<T>,
): Result<T> {
  let text: Result<string> | null = null
  let answer: Result<T> = find(none)
  for (const { rule, i } of rules) {
    const subject: Result<string> = text ?? readQ(world, i)
    const match = matchRule(world, rule, i, subject)
    const applied = apply(world, rule, i, subject)
    const before: Result<T> = answer
    answer = choose<T>(match, () => pick({ text: applied, rule: createName(rule, i) }), before)
    text = choose<string>(match, applied, subject)
  }
  return answer
}

/** The rewritten Q, a question of its own; that of the seen URL if no rule rewrites. */
export function readRewritten(world: World): Result<string> {
  return world.once('rewritten Q', (inner) =>
    evaluate<string>(
      inner,
      ({ text }) => text,
      () => map(seen.url(inner), ({ path, query }) => joinQuery(path, query)),
    ),
  )
}

/** Whether a rule rewrites, a question of its own. */
export function isRewritten(world: World): Result<boolean> {
  return world.once('is rewritten', (inner) =>
    evaluate<boolean>(inner, () => known(true), known(false)),
  )
}

/** The rule that rewrites, or null. */
export function readRewriteRule(world: World): Result<RuleName | null> {
  return evaluate<RuleName | null>(world, ({ rule }) => known(rule), known(null))
}

/** The seen URL with the rewritten Q. */
export const rewritten: Source = {
  url: (world) =>
    both(seen.url(world), readRewritten(world), (url, text) =>
      known({ ...url, ...splitQuery(text) }),
    ),
}
