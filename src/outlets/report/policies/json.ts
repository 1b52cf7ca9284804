import type { JsonObject } from '../../../core/model/json.ts'
import type { ListedException, PolicyReport, ViolationGroup } from '../../../core/policy/report.ts'

/** Builds `edgewise.policies/1`: the policies of a workspace and its exceptions. */
export function buildPoliciesJson({ policies, exceptions }: PolicyReport): JsonObject {
  return {
    format: 'edgewise.policies/1',
    policies: policies.map((policy) => ({ ...policy })),
    exceptions: exceptions.map(buildException),
  }
}

/** Builds what policies found in a plan: violations by place, and the exceptions that it uses. */
export function buildPlanPoliciesJson({
  report,
  stopping,
}: {
  report: PolicyReport
  stopping: ViolationGroup[]
}): JsonObject {
  return {
    violations: report.groups.map((group) => {
      const { policy, level, violations, diagnostic } = group
      const { file, line, column, detail } = diagnostic
      const domains = [...new Set(violations.flatMap(({ domain }) => domain ?? []))]
      const refused = stopping.includes(group)
      return { policy, level, refused, domains, detail, file, line, column }
    }),
    exceptions: report.exceptions.filter(({ used }) => used > 0).map(buildException),
  }
}

/** Builds an exception with how it counts. */
function buildException(exception: ListedException): JsonObject {
  const { policy, domains, own, items, reason, until, by, ...listed } = exception
  const { file, line, column, state, daysLeft, used } = listed
  return {
    policy,
    domains: domains ?? own,
    items,
    reason,
    until,
    by,
    file,
    line,
    column,
    state,
    daysLeft,
    used,
  }
}
