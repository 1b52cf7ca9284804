import type {
  StateOutside,
  Settings,
  Desired,
  ItemPlaces,
  TextSources,
  Findings,
  Policed,
} from './runtime/parts.ts'
import { compareDiagnostics, type Diagnostic } from '../core/model/problem.ts'
import type { Judged } from '../core/checks/suppressions.ts'
import { hasPolicies } from './policies/has-policies.ts'
import { findEmpty, hasErrors } from './runtime/refuse-invalid.ts'
import { listRuleFindings, type KnownRules } from './rule-findings.ts'

type ValidatedWorkspace = Settings & Desired & ItemPlaces & TextSources & Findings & Policed

/** Options of a validation. */
export interface ValidateRequest {
  /** Accept a workspace without a manifest. */
  allowEmpty?: boolean
  /** Results about rule lists of an earlier validation under the same readings. */
  knownRules?: KnownRules
}

/**
 * Finds every problem of a workspace, its secrets that are easy to guess, globs that match no
 * domain, facts about rule lists, and what violates a policy.
 */
export async function validate(
  workspace: ValidatedWorkspace,
  request: ValidateRequest,
  outside: StateOutside,
): Promise<Diagnostic[]> {
  return (await judgeWorkspace(workspace, request, outside)).diagnostics
}

/** Finds what `validate` does, and what comments in the manifests allow. */
export async function judgeWorkspace(
  workspace: ValidatedWorkspace,
  { allowEmpty = false, knownRules }: ValidateRequest,
  outside: StateOutside,
): Promise<Judged> {
  const { judgeAll, desired, findUnmatchedGlobs, findWeakSecrets } = workspace
  const empty = allowEmpty ? [] : findEmpty(workspace)
  // The domains of a manifest with an error may be unknown.
  const isKnown = desired.size > 0 && !hasErrors(workspace)
  const globs = isKnown ? findUnmatchedGlobs() : []
  const ruled = listRuleFindings(workspace, knownRules)
  const policed = await findPolicyProblems(workspace, outside)
  const others = [...globs, ...findWeakSecrets(), ...empty, ...ruled, ...policed]
  const { diagnostics, suppressed } = judgeAll(others, true)
  return { diagnostics: diagnostics.toSorted(compareDiagnostics), suppressed }
}

/** Finds the problems of policies and exceptions, and what violates a policy. */
async function findPolicyProblems(
  workspace: ValidatedWorkspace,
  outside: StateOutside,
): Promise<Diagnostic[]> {
  if (!hasPolicies(workspace)) return []
  const { checkDomains, loadPolicySet } = await import('./policies/check-policies.ts')
  const set = await loadPolicySet(workspace, outside)
  // Items with an error are not in the configuration of their domain.
  if (hasErrors(workspace) || hasErrors(set)) return set.diagnostics
  const { groups, problems } = checkDomains(workspace, set)
  return [...set.diagnostics, ...groups.map(({ diagnostic }) => diagnostic), ...problems]
}
