import { map, Unknown, type Answer } from '../answer.ts'
import { compileExpression, findMatch } from '../regex/machine.ts'
import { maxLength, parsePattern, type Expression } from '../regex/syntax.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import type { Run } from '../run.ts'
import { isPrintable } from '../url.ts'

/** Greatest length of a text that is decided. */
const maxText = 8192
/** Steps after which a text is not decided where engines differ. */
const maxSteps = 1_000_000

/** A regular expression, compiled when it is first used. */
export class Regex {
  readonly pattern: string
  /** What it answers to every text; null if that depends on the text. */
  readonly always: true | Unknown | null
  /** Item and pointer, for the reason of a match that can't be decided. */
  readonly place: string
  #expression: Expression | null = null

  constructor(text: Text, place: string) {
    const plain = readPlain(text)
    this.pattern = plain instanceof Unknown ? '' : plain
    this.place = place
    this.always = plain instanceof Unknown ? plain : matchesAll(plain) ? true : null
  }

  get matchesAll(): boolean {
    return this.always === true
  }

  get undecidable(): Unknown {
    return new Unknown([`undecidable ${this.place}`])
  }

  /**
   * Finds the match in a text; null if there is none. R1 says how an expression is read outside of
   * the common core, where engines differ.
   *
   * @param keeps whether groups are to be found, which takes longer than a test
   */
  find(
    run: Run,
    text: string | null,
    folds: boolean,
    whole: boolean,
    keeps: boolean,
  ): Answer<number[] | null> {
    if (text === null || text.length > maxText || !isPrintable(text)) return this.undecidable
    if (this.pattern.length > maxLength) return this.undecidable
    const expression = (this.#expression ??= parsePattern(this.pattern))
    if (expression === null) return this.undecidable
    const isAlike = expression.isCore && (!keeps || !expression.repeatsGroup)
    if (!isAlike && (run.reading('R1') !== 'ecmascript' || expression.size > maxSteps))
      return this.undecidable
    const program = compileExpression(expression, folds, keeps)
    const found = findMatch(program, text, whole, isAlike ? undefined : maxSteps)
    return found === undefined ? this.undecidable : found
  }
}

/** Of the patterns in parentheses, only `(.*)` and `^(.*)$` stand for all texts. */
export function matchesAll(pattern: string): boolean {
  return /^(?:\^?\.\*\$?|\(\.\*\)|\^\(\.\*\)\$)$/.test(pattern)
}

/** How much of a text an expression must match: R4, or any part of it. */
export type Extent = 'R4' | 'search'

/** Tests whether an expression matches a text; null is a text that is not printable ASCII. */
export function matchRegex(
  run: Run,
  regex: Regex,
  text: string | null,
  folds: boolean,
  extent: Extent,
): Answer<boolean> {
  if (regex.always !== null) return regex.always
  const whole = extent === 'R4' && run.reading('R4') === 'whole'
  return map(regex.find(run, text, folds, whole, false), (found) => found !== null)
}

/** A match: the place of the whole, and the texts of the groups, empty if they took no part. */
export interface Match {
  start: number
  end: number
  groups: string[]
}

/** Finds the matched part and its groups; null without a match. */
export function findParts(
  run: Run,
  regex: Regex,
  text: string,
  folds: boolean,
): Answer<Match | null> {
  const whole = run.reading('R4') === 'whole'
  return map(regex.find(run, text, folds, whole, true), (found) => {
    if (found === null) return null
    const [start = 0, end = 0] = found
    const groups = found.flatMap((from, i) => (i % 2 === 0 ? text.slice(from, found[i + 1]) : []))
    return { start, end, groups }
  })
}
