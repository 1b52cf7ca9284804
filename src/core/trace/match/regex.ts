import { Unknown, type Answer } from '../answer.ts'
import type { Evaluation } from '../evaluation.ts'
import { interpret } from '../regex/ecmascript.ts'
import { compileProgram, findMatch, testMatch, type Program } from '../regex/machine.ts'
import { findLiteral } from '../regex/literal.ts'
import { parseCore, type Expression } from '../regex/syntax.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import { isPrintable } from '../url.ts'

/** Greatest length of a text that is decided. */
const maxLength = 8192

/** A regular expression, compiled when it is first used. */
export class Regex {
  readonly pattern: string
  /** What it answers to every text; null if that depends on the text. */
  readonly always: true | Unknown | null
  /** Item and pointer, for the reason of a match that can't be decided. */
  readonly place: string
  #expression: Expression | null | undefined
  #literal: string | undefined
  readonly #programs: (Program | undefined)[] = []

  constructor(text: Text, place: string) {
    const plain = readPlain(text)
    this.pattern = plain instanceof Unknown ? '' : plain
    this.place = place
    this.always = plain instanceof Unknown ? plain : matchesAll(plain) ? true : null
  }

  get matchesAll(): boolean {
    return this.always === true
  }

  /** Null outside of the common core. */
  get expression(): Expression | null {
    if (this.#expression === undefined) this.#expression = parseCore(this.pattern)
    return this.#expression
  }

  /** Tests quickly whether no part of a printable text can match, in any case of letters. */
  excludes(lower: string): boolean {
    if (this.expression === null || lower.length > maxLength) return false
    return !lower.includes((this.#literal ??= findLiteral(this.expression.node)))
  }

  getProgram(ignoresCase: boolean): Program | null {
    const { expression } = this
    if (expression === null) return null
    const { node, groups } = expression
    return (this.#programs[Number(ignoresCase)] ??= compileProgram(node, groups, ignoresCase))
  }

  get undecidable(): Unknown {
    return new Unknown([`undecidable ${this.place}`])
  }
}

/** Of the patterns in parentheses, only `(.*)` and `^(.*)$` stand for all texts. */
export function matchesAll(pattern: string): boolean {
  return /^(?:\^?\.\*\$?|\(\.\*\)|\^\(\.\*\)\$)$/.test(pattern)
}

/** How much of a text an expression must match: R4, or somewhere in it. */
export type Extent = 'R4' | 'search'

/**
 * Tests whether a regular expression matches a text; null is a text that is not printable ASCII.
 * Outside of the common core it is undecidable, unless R1 is settled.
 */
export function matchRegex(
  e: Evaluation,
  regex: Regex,
  text: string | null,
  ignoresCase: boolean,
  extent: Extent,
): Answer<boolean> {
  if (regex.always !== null) return regex.always
  const test = findTest(e, regex, text, ignoresCase)
  if (test === null) return regex.undecidable
  const found = test(false)
  if (found === null) return regex.undecidable
  if (!found || extent === 'search') return found
  const whole = test(true)
  if (whole === null) return regex.undecidable
  return whole || e.reading('R4') === 'search'
}

function findTest(
  e: Evaluation,
  regex: Regex,
  text: string | null,
  ignoresCase: boolean,
): ((whole: boolean) => boolean | null) | null {
  const program = regex.getProgram(ignoresCase)
  if (program !== null && text !== null && text.length <= maxLength && isPrintable(text))
    return (whole) => testMatch(program, text, whole)
  if (text === null || e.open('R1') !== 'ecmascript') return null
  return (whole) => {
    const found = interpret(regex.pattern, text, ignoresCase, whole)
    return found === 'undecidable' ? null : found !== null
  }
}

/** A match: the place of the whole, and the texts of the groups, empty if they took no part. */
export interface Match {
  start: number
  end: number
  groups: string[]
}

/** Finds the matched part and its groups; null without a match. */
export function findParts(
  e: Evaluation,
  regex: Regex,
  text: string,
  ignoresCase: boolean,
): Answer<Match | null> {
  const found = matchRegex(e, regex, text, ignoresCase, 'R4')
  if (found instanceof Unknown) return found
  if (!found) return null
  const whole = matchWhole(e, regex, text, ignoresCase)
  const program = regex.getProgram(ignoresCase)
  const isInCore = regex.expression?.repeatsGroup === false && isPrintable(text)
  if (program !== null && isInCore) return readParts(findMatch(program, text, whole), text)
  if (e.open('R1') !== 'ecmascript') return regex.undecidable
  const parts = interpret(regex.pattern, text, ignoresCase, whole)
  return parts === 'undecidable' ? regex.undecidable : readParts(parts, text)
}

/** Tests whether the part to be found is the whole text: R4, where it makes a difference. */
function matchWhole(e: Evaluation, regex: Regex, text: string, ignoresCase: boolean): boolean {
  return matchRegex(e, regex, text, ignoresCase, 'search') === true && e.reading('R4') === 'whole'
}

function readParts(captures: ArrayLike<number> | null, text: string): Match | null {
  if (captures === null) return null
  const groups = Array.from({ length: captures.length / 2 }, (_, i) => {
    const [start = -1, end = -1] = [captures[2 * i], captures[2 * i + 1]]
    return start < 0 || end < 0 ? '' : text.slice(start, end)
  })
  return { start: captures[0] ?? 0, end: captures[1] ?? 0, groups }
}
