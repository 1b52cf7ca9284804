import type { Grounds } from '../../core/model/applied.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Snapshot } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { formatPlace } from '../../core/model/problem.ts'
import { mapSome, pluralize } from '../../core/model/text/words.ts'
import { listTouched } from '../../core/model/change.ts'
import type { PolicyReport, ViolationGroup } from '../../core/policy/report.ts'
import type { StateOutside, Policed } from '../runtime/parts.ts'
import type { Dialogue } from '../runtime/ports.ts'
import type { PolicySet } from '../policies/check-policies.ts'
import { hasPolicies } from '../policies/has-policies.ts'
import type { OverrideRequest } from './reasons.ts'

/** What was overridden for a plan, and the exceptions that it uses. */
export type Lifted = Required<Pick<Grounds, 'overrides' | 'exceptions'>>

/** What policies found in a plan. */
export interface PolicedPlan {
  report: PolicyReport
  /** The violations that stop the plan: those of domains that it changes, and of itself. */
  stopping: ViolationGroup[]
}

/** Opens the policies of a workspace; null without any. */
export async function openPolicies(
  workspace: Policed,
  outside: StateOutside,
): Promise<PolicySet | null> {
  if (!hasPolicies(workspace)) return null
  const { loadPolicySet } = await import('../policies/check-policies.ts')
  return loadPolicySet(workspace, outside)
}

/** A plan to judge. */
interface Judging {
  plan: Plan
  /** What the judged domains have after the plan, with the fields that the service keeps. */
  configs: Snapshot
}

/**
 * Judges a plan by policies; null without any.
 *
 * @throws EdgewiseError `invalid` if a file of policies has an error
 */
export async function judgePlan(
  workspace: Policed,
  set: PolicySet | null,
  { plan, configs }: Judging,
): Promise<PolicedPlan | null> {
  if (set === null) return null
  const { checkPolicies } = await import('../policies/check-policies.ts')
  const report = checkPolicies(workspace, set, { plan, domains: configs.keys(), configs })
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

/** Describes for a plan what violates policies: first what apply will refuse it for. */
export function listPolicyWarnings({ report, stopping }: PolicedPlan): string[] {
  const stops = new Set(stopping)
  const others = report.groups.filter((group) => !stops.has(group))
  return [
    ...describeGroups([...stopping, ...others], (group) =>
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
 * Refuses a plan that violates policies, and prints what does not stop it.
 *
 * @returns the policies that were overridden, and the exceptions that the plan uses
 * @throws EdgewiseError as `judgePlan` and `refuseViolating`
 */
export async function submitToPolicies(
  workspace: Policed,
  set: PolicySet | null,
  judging: Judging,
  request: OverrideRequest,
  dialogue: Dialogue,
): Promise<Lifted> {
  const policed = await judgePlan(workspace, set, judging)
  const overrides = refuseViolating(policed, request)
  if (policed === null) return { overrides, exceptions: [] }
  for (const note of listUsedExceptions(policed)) dialogue.note(note)
  for (const warning of listPolicyWarnings({ ...policed, stopping: [] })) dialogue.warn(warning)
  const exceptions = policed.report.exceptions
    .filter(({ used }) => used > 0)
    .map(({ policy, reason, until }) => ({ policy, reason, until }))
  return { overrides, exceptions }
}

/**
 * Refuses a plan that violates hard policies, or soft ones that are not overridden.
 *
 * @returns the policies that had to be overridden
 * @throws EdgewiseError `guarded`; `usage` for an override that no policy allows
 */
function refuseViolating(
  policed: PolicedPlan | null,
  { overrides = [], reason = '' }: OverrideRequest,
): Lifted['overrides'] {
  refuseOverrides(policed, overrides)
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
            ...describeGroups(left, (group) => `  ${describeGroup(group)}`),
          ].join('\n')
    throw new EdgewiseError('guarded', message, hintAt(left))
  }
  const used = new Set(stopping.map(({ policy }) => policy))
  return [...used].map((policy) => ({ policy, reason }))
}

/** Refuses overrides of what can't be overridden. */
function refuseOverrides(policed: PolicedPlan | null, overrides: string[]): void {
  const policies = policed?.report.policies ?? []
  for (const name of overrides) {
    if (name === 'freeze') continue
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
}

/** Describes groups up to a number. */
function describeGroups(
  groups: ViolationGroup[],
  describe: (group: ViolationGroup) => string,
): string[] {
  const countRest = (rest: number) =>
    `policies are violated at ${pluralize(rest, 'more place')}: see plan --json`
  return mapSome(groups, 30, describe, countRest)
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
