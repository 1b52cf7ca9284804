import { map, Unknown, type Answer } from '../answer.ts'
import { interpret } from '../regex/ecmascript.ts'
import { compileProgram, findMatch, testMatch, type Program } from '../regex/machine.ts'
import { findLiteral } from '../regex/literal.ts'
import { parseCore, type Expression } from '../regex/syntax.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import type { Run } from '../run.ts'
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

/** How much of a text an expression must match: R4, or any part of it. */
export type Extent = 'R4' | 'search'

/**
 * Tests whether a regular expression matches a text; null is a text that is not printable ASCII.
 * Outside of the common core R1 says how it is read.
 */
export function matchRegex(
  run: Run,
  regex: Regex,
  text: string | null,
  folds: boolean,
  extent: Extent,
): Answer<boolean> {
  if (regex.always !== null) return regex.always
  if (text === null || !canBeDecided(text)) return regex.undecidable
  const isWhole = extent === 'R4' && run.reading('R4') === 'whole'
  const program = regex.getProgram(folds)
  if (program !== null) return testMatch(program, text, isWhole)
  return map(interpretOnce(run, regex, text, folds, isWhole), (found) => found !== null)
}

function canBeDecided(text: string): boolean {
  return text.length <= maxLength && isPrintable(text)
}

function interpretOnce(
  run: Run,
  regex: Regex,
  text: string,
  folds: boolean,
  isWhole: boolean,
): Answer<number[] | null> {
  if (run.reading('R1') !== 'ecmascript') return regex.undecidable
  const found = interpret(regex.pattern, text, folds, isWhole)
  return found === 'undecidable' ? regex.undecidable : found
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
  if (!canBeDecided(text)) return regex.undecidable
  const isWhole = run.reading('R4') === 'whole'
  const program = regex.getProgram(folds)
  if (program !== null && regex.expression?.repeatsGroup === false)
    return readParts(findMatch(program, text, isWhole), text)
  return map(interpretOnce(run, regex, text, folds, isWhole), (found) => readParts(found, text))
}

function readParts(captures: ArrayLike<number> | null, text: string): Match | null {
  if (captures === null) return null
  const groups = Array.from({ length: captures.length / 2 }, (_, i) => {
    const [start = -1, end = -1] = [captures[2 * i], captures[2 * i + 1]]
    return start < 0 || end < 0 ? '' : text.slice(start, end)
  })
  return { start: captures[0] ?? 0, end: captures[1] ?? 0, groups }
}
