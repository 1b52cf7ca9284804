import type {
  Settings,
  Desired,
  ItemPlaces,
  TextSources,
  Findings,
} from './runtime/workspace-parts.ts'
import { compareDiagnostics, type Diagnostic } from '../core/model/problem.ts'
import type { Judged } from '../core/checks/suppressions.ts'
import { findEmpty, hasErrors } from './refuse-invalid.ts'
import { listRuleFindings } from './rule-findings.ts'

/** Options of a validation. */
export interface ValidateRequest {
  /** Accept a workspace without a manifest. */
  allowEmpty?: boolean
}

/**
 * Finds every problem of a workspace, its secrets that are easy to guess, globs that match no
 * domain, and facts about rule lists.
 */
export function validate(
  workspace: Settings & Desired & ItemPlaces & TextSources & Findings,
  request: ValidateRequest = {},
): Diagnostic[] {
  return judgeWorkspace(workspace, request).diagnostics
}

/** Finds what `validate` does, and what comments in the manifests allow. */
export function judgeWorkspace(
  workspace: Settings & Desired & ItemPlaces & TextSources & Findings,
  { allowEmpty = false }: ValidateRequest = {},
): Judged {
  const { judgeAll, desired, findUnmatchedGlobs, findWeakSecrets } = workspace
  const empty = allowEmpty ? [] : findEmpty(workspace)
  // The domains of a manifest with an error may be unknown.
  const isKnown = desired.size > 0 && !hasErrors(workspace)
  const globs = isKnown ? findUnmatchedGlobs() : []
  const others = [...globs, ...findWeakSecrets(), ...empty, ...listRuleFindings(workspace)]
  const { diagnostics, suppressed } = judgeAll(others, true)
  return { diagnostics: diagnostics.toSorted(compareDiagnostics), suppressed }
}
