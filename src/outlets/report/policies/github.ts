import type { ViolationGroup } from '../../../core/policy/report.ts'
import { formatDiagnosticsGithub } from '../diagnostics/github.ts'

/**
 * Formats what a plan violates as annotations of GitHub Actions. `validate` has those of policies
 * on domains and requests.
 *
 * @param folder of the workspace in its repository
 */
export function formatViolationsGithub(groups: ViolationGroup[], folder: string): string {
  const ofPlans = groups.filter(({ on }) => on !== 'domain' && on !== 'request')
  return formatDiagnosticsGithub(
    ofPlans.map(({ diagnostic }) => diagnostic),
    folder,
  )
}
