import { lowerAscii } from '../../model/text/lower-ascii.ts'
import { isSameAnswer, type Answer } from '../answer.ts'
import type { Evaluation } from '../evaluation.ts'

/** Whether letter case is ignored: known by a field, or left to R6. */
export type CaseRule = boolean | 'R6'

/**
 * Tests something with and without regard to letter case. R6 is asked only where it makes a
 * difference; `[^a-z]` matches less if case is ignored.
 */
export function byCase(
  e: Evaluation,
  rule: CaseRule,
  test: (ignoresCase: boolean) => Answer<boolean>,
): Answer<boolean> {
  if (rule !== 'R6') return test(rule)
  const [sensitive, insensitive] = [test(false), test(true)]
  if (isSameAnswer(sensitive, insensitive)) return sensitive
  return e.reading('R6') === 'insensitive' ? insensitive : sensitive
}

/** Puts letters of ASCII into lower case if case is ignored. */
export function fold(text: string, ignoresCase: boolean): string {
  return ignoresCase ? lowerAscii(text) : text
}
