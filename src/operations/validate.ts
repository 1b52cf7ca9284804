import { compareDiagnostics, type Diagnostic } from '../model/problem.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { findEmpty } from './refuse-empty.ts'

/** Options of a validation. */
export interface ValidateRequest {
  /** Accept a workspace without a manifest. */
  allowEmpty?: boolean
}

/** Finds every problem of a workspace, and its secrets that are easy to guess. */
export function validate(
  workspace: LoadedWorkspace,
  { allowEmpty = false }: ValidateRequest = {},
): Diagnostic[] {
  const { diagnostics, findWeakSecrets } = workspace
  const empty = allowEmpty ? [] : findEmpty(workspace)
  return [...diagnostics, ...findWeakSecrets(), ...empty].toSorted(compareDiagnostics)
}
