import type { Policed } from '../runtime/workspace-parts.ts'

/** Tests whether a workspace has policies, or exceptions from them. */
export function hasPolicies({
  policyFiles,
  exceptions,
}: Pick<Policed, 'policyFiles' | 'exceptions'>): boolean {
  return policyFiles.length + exceptions.length > 0
}
