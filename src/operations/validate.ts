import { compareDiagnostics, type Diagnostic } from '../model/problem.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** Finds every problem of a workspace, and its secrets that are easy to guess. */
export function validate({ diagnostics, findWeakSecrets }: LoadedWorkspace): Diagnostic[] {
  return [...diagnostics, ...findWeakSecrets()].toSorted(compareDiagnostics)
}
