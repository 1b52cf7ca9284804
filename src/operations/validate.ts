import { compareDiagnostics, type Diagnostic } from '../model/problem.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { findEmpty } from './refuse-empty.ts'

/** Options of a validation. */
export interface ValidateRequest {
  /** Accept a workspace without a manifest. */
  allowEmpty?: boolean
}

/**
 * Finds every problem of a workspace, its secrets that are easy to guess, and globs that match no
 * domain.
 */
export function validate(
  workspace: LoadedWorkspace,
  { allowEmpty = false }: ValidateRequest = {},
): Diagnostic[] {
  const { diagnostics, desired, findUnmatchedGlobs, findWeakSecrets } = workspace
  const empty = allowEmpty ? [] : findEmpty(workspace)
  // The domains of a manifest with an error may be unknown.
  const isKnown = desired.size > 0 && diagnostics.every(({ severity }) => severity !== 'error')
  const globs = isKnown ? findUnmatchedGlobs() : []
  return [...diagnostics, ...globs, ...findWeakSecrets(), ...empty].toSorted(compareDiagnostics)
}
