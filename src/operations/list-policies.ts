import { refuseInvalid } from './runtime/refuse-invalid.ts'
import type { StateOutside, Desired, Findings, Policed } from './runtime/parts.ts'
import { checkDomains, loadPolicySet } from './policies/check-policies.ts'
import type { PolicyReport } from '../core/policy/report.ts'

/**
 * Lists the policies of a workspace and its exceptions, with what they find in the manifests.
 *
 * @throws EdgewiseError `invalid` when a manifest or a policy has an error
 */
export async function listPolicies(
  workspace: Policed & Desired & Findings,
  outside: StateOutside,
): Promise<PolicyReport> {
  refuseInvalid(workspace)
  return checkDomains(workspace, await loadPolicySet(workspace, outside))
}
