import { buildGithubApply } from './github-apply.ts'
import { buildGithubDrift } from './github-drift.ts'
import { createGithubParts } from './github-parts.ts'
import { buildGithubPlan } from './github-plan.ts'
import type { Pin } from './pin.ts'
import type { Placement } from './placement.ts'
import type { Variables } from './workflow-variables.ts'

/**
 * Builds the workflows for GitHub, by path from the top folder of the repository.
 *
 * @param variables of its steps
 */
export function buildGithubWorkflows(
  pin: Pin,
  placement: Placement,
  variables: Variables,
): Record<string, string> {
  const parts = createGithubParts(pin, placement, variables)
  return {
    [parts.pathOf('plan')]: buildGithubPlan(parts),
    [parts.pathOf('apply')]: buildGithubApply(parts),
    [parts.pathOf('drift')]: buildGithubDrift(parts),
  }
}
