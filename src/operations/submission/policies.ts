import type { Override } from '../../core/model/applied.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain, Snapshot } from '../../core/model/item.ts'
import { formatPlace } from '../../core/model/problem.ts'
import { pluralize } from '../../core/model/text/words.ts'
import type { Judgeable } from '../../core/policy/cases.ts'
import type { PolicyReport, ViolationGroup } from '../../core/policy/report.ts'
import type { StateOutside } from '../runtime/outside.ts'
import type { Desired, Policed } from '../runtime/workspace-parts.ts'
import { hasPolicies } from '../policies/has-policies.ts'

/** Policies that a person overrides, and why. */
export interface OverrideRequest {
  /** Names of soft policies. */
  overrides?: string[]
  reason?: string
}

/** What policies found in a plan. */
export interface PolicedPlan {
  report: PolicyReport
  /** The violations that stop the plan: those of domains that it changes, and of itself. */
  stopping: ViolationGroup[]
}

/**
 * Judges a plan by the policies of a workspace; null without any.
 *
 * @param configs what the judged domains have after the plan
 * @throws EdgewiseError `invalid` if a file of policies has an error
 */
export async function judgePlan(
  workspace: Policed & Desired,
  plan: Judgeable,
  configs: Snapshot,
  outside: StateOutside,
): Promise<PolicedPlan | null> {
  if (!hasPolicies(workspace)) return null
  const { checkPolicies, loadPolicySet } = await import('../policies/check-policies.ts')
  const set = await loadPolicySet(workspace, outside)
  const judged = { plan, domains: configs.keys(), configs }
  const report = checkPolicies(workspace, set, judged)
  const touched = listTouched(plan)
  const stopping = report.groups.filter(
    ({ level, violations }) =>
      level !== 'advisory' &&
      violations.some(
        ({ domain, on, fault }) =>
          (domain === null || touched.has(domain)) &&
          // An answer that is not known stops a plan by a hard policy only.
          (level === 'hard' || on !== 'request' || fault === null),
      ),
  )
  // Nothing is sent, so that nothing is against a policy.
  return { report, stopping: touched.size === 0 ? [] : stopping }
}

/** Lists the domains that a plan changes. */
export function listTouched({ changes, writes }: Judgeable): Set<Domain> {
  return new Set([
    ...changes.map(({ domain }) => domain),
    ...writes.flatMap(({ domains }) => domains),
  ])
}

/** Describes for a plan what violates policies, and whether apply will refuse it. */
export function listPolicyWarnings({ report, stopping }: PolicedPlan): string[] {
  const stops = new Set(stopping)
  return [
    ...report.groups.map((group) =>
      stops.has(group)
        ? `apply will refuse this plan. ${describeGroup(group)}. ${hintAt([group])}`
        : describeGroup(group),
    ),
    // Only validate judges all domains, and so knows of exceptions without use.
    ...report.problems
      .filter(({ code }) => code !== 'exception-unused')
      .map((problem) => `${problem.detail.replace(/\.$/, '')} (${formatPlace(problem)})`),
  ]
}

/** Describes the exceptions that a plan uses. */
export function listUsedExceptions({ report }: PolicedPlan): string[] {
  return report.exceptions
    .filter(({ used }) => used > 0)
    .map(
      (each) =>
        `the exception at ${formatPlace({ ...each, endLine: 0, endColumn: 0 })} from ` +
        `${each.policy} is used for ${pluralize(each.used, 'violation')}, until ${each.until} ` +
        `(${pluralize(each.daysLeft, 'day')} left): ${each.reason}`,
    )
}

/**
 * Refuses a plan that violates hard policies, or soft ones that are not overridden.
 *
 * @returns the policies that had to be overridden
 * @throws EdgewiseError `guarded`; `usage` for an override that no policy allows, or without reason
 */
export function refuseViolating(
  policed: PolicedPlan | null,
  { overrides = [], reason = '' }: OverrideRequest,
): Override[] {
  refuseOverrides(policed, overrides, reason)
  const { stopping = [] } = policed ?? {}
  const left = stopping.filter(
    ({ policy, level }) => level === 'hard' || !overrides.includes(policy),
  )
  const [first, ...others] = left
  if (first !== undefined) {
    const message =
      others.length === 0
        ? `a policy refuses the plan; nothing was applied: ${describeGroup(first)}`
        : [
            'policies refuse the plan; nothing was applied:',
            ...left.map((group) => `  ${describeGroup(group)}`),
          ].join('\n')
    throw new EdgewiseError('guarded', message, hintAt(left))
  }
  const used = new Set(stopping.map(({ policy }) => policy))
  return [...used].map((policy) => ({ policy, reason }))
}

/** Refuses overrides of what can't be overridden, and those without a reason. */
function refuseOverrides(policed: PolicedPlan | null, overrides: string[], reason: string): void {
  const policies = policed?.report.policies ?? []
  for (const name of overrides) {
    const policy = policies.find((each) => each.name === name)
    if (policy === undefined)
      throw new EdgewiseError(
        'usage',
        `there is no policy "${name}" to override`,
        'Run "edgewise policies".',
      )
    if (policy.level === 'hard')
      throw new EdgewiseError(
        'usage',
        `the policy "${name}" is hard: it can't be overridden`,
        'Change what violates it, or merge an exception that ends.',
      )
  }
  if (overrides.length === 0 && reason !== '')
    throw new EdgewiseError(
      'usage',
      'a reason is only recorded for an override',
      'Pass --override.',
    )
  if (overrides.length > 0 && reason.trim() === '')
    throw new EdgewiseError(
      'usage',
      'an override needs a reason, which the history records',
      'Pass --reason TEXT.',
    )
}

function describeGroup({ diagnostic }: ViolationGroup): string {
  return `${diagnostic.detail.replace(/\.$/, '')} (${formatPlace(diagnostic)})`
}

function hintAt(groups: ViolationGroup[]): string {
  const soft = [...new Set(groups.flatMap(({ policy, level }) => (level === 'soft' ? policy : [])))]
  const isHard = groups.some(({ level }) => level === 'hard')
  const options = soft.map((name) => `--override ${name}`).join(' ')
  return [
    ...(isHard ? ['Change the configuration, or merge an exception that ends before it.'] : []),
    ...(soft.length === 0 ? [] : [`Pass ${options} --reason TEXT if you mean it.`]),
  ].join(' ')
}
