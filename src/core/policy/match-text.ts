import { compileExpression, findMatch } from '../trace/regex/machine.ts'
import { parseCore } from '../trace/regex/syntax.ts'

/**
 * Tests whether a part of a text matches a regular expression, in time in proportion to their
 * lengths.
 *
 * @param charge counts the work before it is done
 * @throws TypeError for an expression that engines read differently, such as one with `(?=`
 */
export function matchText(text: string, pattern: string, charge: (steps: number) => void): boolean {
  const parsed = parseCore(pattern)
  if (parsed === null)
    throw new TypeError(
      `matches() can't use the expression ${JSON.stringify(pattern.slice(0, 100))}. Write it ` +
        'with characters, ".", classes, groups, "|" and quantifiers.',
    )
  const program = compileExpression(parsed, false, false)
  charge((program.steps.length * text.length) >> 5)
  return findMatch(program, text, false) !== null
}
