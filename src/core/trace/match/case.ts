import { lowerAscii } from '../../model/text/lower-ascii.ts'
import type { Run } from '../run.ts'

/** Whether letter case is ignored: known by a field, or left to R6. */
export type CaseRule = boolean | 'R6'

/** Tests whether letter case is ignored. */
export function ignoresCase(run: Run, rule: CaseRule): boolean {
  return rule === 'R6' ? run.reading('R6') === 'insensitive' : rule
}

/** Puts letters of ASCII into lower case if case is ignored. */
export function fold(text: string, folds: boolean): string {
  return folds ? lowerAscii(text) : text
}
