import { didYouMean } from '../catalog/value/nearest.ts'
import {
  adjustableCodes,
  fixedCodes,
  type AdjustableCode,
  type Diagnostic,
  type Severity,
} from '../model/problem.ts'

/** Severity that a workspace or an option gives to a code; `off` drops its findings. */
export type Level = Severity | 'off'

/** Level by code; a code that is absent keeps its own severity. */
export type Levels = Readonly<Partial<Record<AdjustableCode, Level>>>

/** Tests whether the level of a code can be set. */
export function isAdjustable(code: string): code is AdjustableCode {
  return adjustableCodes.some((each) => each === code)
}

/** Explains in a clause why a code has no level that can be set; null if it has. */
export function explainCode(code: string): string | null {
  if (isAdjustable(code)) return null
  if (code === 'too-many-problems')
    return `"${code}" counts other problems, and is as serious as they are`
  if (code === 'policy-violated' || code === 'policy-failed')
    return `"${code}" is as serious as the level of its policy, and an exception allows it`
  if (fixedCodes.some((each) => each === code))
    return `"${code}" is always an error, which can't be changed: what is wrong must be corrected`
  const hint = didYouMean(code, adjustableCodes) || ' "edgewise validate --json" prints codes.'
  return `there is no code "${code}".${hint}`
}

/** Gives a finding its level; null if it is off. Errors keep their severity. */
export function applyLevel(diagnostic: Diagnostic, levels: Levels): Diagnostic | null {
  const { code, severity } = diagnostic
  const level = isAdjustable(code) ? levels[code] : undefined
  if (level === undefined || level === severity || severity === 'error') return diagnostic
  return level === 'off' ? null : { ...diagnostic, severity: level }
}
