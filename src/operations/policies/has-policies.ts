import type { Policed } from '../runtime/parts.ts'

/** Tests whether a workspace has policies, or exceptions from them. */
export function hasPolicies({
  policyFiles,
  exceptions,
  lostPolicies = '',
}: Pick<Policed, 'policyFiles' | 'exceptions' | 'lostPolicies'>): boolean {
  return policyFiles.length + exceptions.length + lostPolicies.length > 0
}
