import type { Desired, Policed, StateOutside } from '../runtime/parts.ts'
import { applyLevel } from '../../core/checks/levels.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { append, findMax, getOrAdd, groupBy } from '../../core/model/lists.ts'
import {
  compareDiagnostics,
  formatPlace,
  type Diagnostic,
  type Place,
} from '../../core/model/problem.ts'
import {
  createConfigLookup,
  createPlanCase,
  type Judgeable,
  listChangeCases,
  listDomainCases,
  listWriteCases,
  type Configs,
} from '../../core/policy/cases.ts'
import { createBudget, judge, type Case, type Judgement } from '../../core/policy/judge.ts'
import type { Violation } from '../../core/policy/policy.ts'
import type { Subject } from '../../core/policy/subject.ts'
import type {
  ListedException,
  ListedPolicy,
  PolicyReport,
  ViolationGroup,
} from '../../core/policy/report.ts'
import { findRealPath } from '../../files/look.ts'
import { createDiagnostic } from '../../manifest/manifests/finding.ts'
import { policyShape } from '../../manifest/policies/parse-exceptions.ts'
import { loadPolicies, type DeclaredPolicy } from '../../manifest/policies/load-policies.ts'
import { findPlace } from '../../manifest/yaml/yaml-place.ts'
import { hasErrors } from '../runtime/refuse-invalid.ts'
import { listExceptionProblems } from './exception-problems.ts'
import { loadExceptions, type CheckedException } from './load-exceptions.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'

/** What policies judge. */
export interface Judged {
  /** The plan whose changes and writes are judged; null for the domains only. */
  plan: Judgeable | null
  domains: Iterable<Domain>
  /** What the domains have: the manifests, or what a rollback leaves. */
  configs: Configs
}

/** Policies whose files have no error, and exceptions from them. */
export interface PolicySet {
  policies: DeclaredPolicy[]
  exceptions: CheckedException[]
  /** The traced requests of policies, by their names. */
  requests: ReadonlyMap<string, Case[]>
  /** Problems of the files of policies. */
  diagnostics: Diagnostic[]
}

/** Loads the policies of a workspace, and its exceptions; with manifests without errors, traces. */
export async function loadPolicySet(workspace: Policed, outside: StateOutside): Promise<PolicySet> {
  const root = findRealPath(workspace.root)
  const loaded = loadPolicies(root, workspace.policyFiles, workspace.lostPolicies)
  const { policies, diagnostics } = loaded
  const names = new Set(policies.map(({ name }) => name))
  const declared = [...workspace.exceptions, ...loaded.exceptions]
  const exceptions = await loadExceptions(workspace, declared, names, outside.clock.now())
  const requests = new Map<string, Case[]>()
  const traced = new Map<string, Promise<Case[] | string>>()
  for (const { name, on, requests: file, document } of policies) {
    if (on !== 'request' || hasErrors(workspace)) continue
    const path = file ?? ''
    const { loadRequestCases } = await import('./load-request-cases.ts')
    const cases = await getOrAdd(traced, path, () => loadRequestCases(workspace, path, outside))
    if (typeof cases !== 'string') requests.set(name, cases)
    else diagnostics.push(createDiagnostic(document, policyShape.createFinding('/requests', cases)))
  }
  return { policies, exceptions, requests, diagnostics }
}

/**
 * Judges domains, and the changes and writes of a plan, by the policies of a workspace.
 *
 * @throws EdgewiseError `invalid` if a file of policies has an error: nothing is known to be
 *   allowed then
 */
export function checkPolicies(
  workspace: Policed,
  { policies, exceptions, requests, diagnostics }: PolicySet,
  judged: Judged,
): PolicyReport {
  refuseInvalidPolicies(diagnostics)
  const used = new Map<CheckedException, number>()
  const waiting = new Set<CheckedException>()
  const left: { policy: DeclaredPolicy; violation: Violation }[] = []
  const listed = judgeAll(policies, requests, judged).map(([policy, found]) => {
    const open = found.violations.filter((violation) => {
      const by = findException(violation, exceptions, waiting)
      if (by !== null) used.set(by, (used.get(by) ?? 0) + 1)
      return by === null
    })
    append(
      left,
      open.map((violation) => ({ policy, violation })),
    )
    return listPolicy(policy, found.judged, open.length, found.violations.length - open.length)
  })
  return {
    policies: listed,
    exceptions: exceptions.map((each) => listException(each, used.get(each) ?? 0, waiting)),
    groups: placeViolations(workspace, left),
    problems: listExceptionProblems(exceptions, used, waiting, (name) =>
      judgesAll(policies, name),
    ).filter((problem) => applyLevel(problem, workspace.levels) !== null),
  }
}

/**
 * Refuses files of policies with an error.
 *
 * @throws EdgewiseError `invalid`
 */
export function refuseInvalidPolicies(diagnostics: Diagnostic[]): void {
  if (!hasErrors({ diagnostics })) return
  const [first] = diagnostics.toSorted(compareDiagnostics)
  const place = first === undefined ? '' : ` (${formatPlace(first)}: ${first.detail})`
  throw new EdgewiseError(
    'invalid',
    `the policies have errors, so that nothing is known to be allowed${place}`,
    'Correct them; "edgewise validate" lists all problems.',
    diagnostics,
  )
}

/** Tests whether a policy judges domains, all of which are there in each run. */
function judgesAll(policies: DeclaredPolicy[], name: string): boolean {
  return policies.some((policy) => policy.name === name && policy.on === 'domain')
}

/** Judges by each policy what it is for. */
export function judgeAll(
  policies: DeclaredPolicy[],
  requests: PolicySet['requests'],
  { plan, domains, configs }: Judged,
): [DeclaredPolicy, Judgement][] {
  const find = createConfigLookup(configs)
  const create: Record<Exclude<Subject, 'request'>, () => Case[]> = {
    domain: () => listDomainCases(domains, find),
    change: () => (plan === null ? [] : listChangeCases(plan.changes, find)),
    write: () => (plan === null ? [] : listWriteCases(plan.writes)),
    plan: () => (plan === null ? [] : [createPlanCase(plan)]),
  }
  const known = new Map<Subject, Case[]>()
  const listed = policies.map(({ name, on }) => {
    if (on === 'request')
      return (requests.get(name) ?? []).filter(({ domain }) => configs.has(domain ?? ''))
    const cases = known.get(on) ?? create[on]()
    known.set(on, cases)
    return cases
  })
  const shared = createBudget(
    findMax(
      listed.map(({ length }) => length),
      0,
    ),
  )
  return policies.map((policy, i) => [policy, judge(policy, listed[i] ?? [], shared)])
}

/** Finds an exception of a violation that counts. */
function findException(
  violation: Violation,
  exceptions: CheckedException[],
  waiting: Set<CheckedException>,
): CheckedException | null {
  const covering = exceptions.filter((each) => each.isOver === null && each.covers(violation))
  const counting = covering.find((each) => each.wasKnown(violation))
  if (counting === undefined) for (const each of covering) waiting.add(each)
  return counting ?? null
}

function listPolicy(
  { name, level, on, document }: DeclaredPolicy,
  judged: number,
  violations: number,
  excepted: number,
): ListedPolicy {
  const { file, line, column } = findPlace(document, '/policy')
  return { name, level, on, file, line, column, judged, violations, excepted }
}

function listException(
  each: CheckedException,
  used: number,
  waiting: ReadonlySet<CheckedException>,
): ListedException {
  const { document, pointer, ...exception } = each.exception
  const { file, line, column } = findPlace(document, pointer)
  const state = each.isOver ?? (waiting.has(each) ? 'waiting' : 'counts')
  return { ...exception, file, line, column, state, daysLeft: each.daysLeft, used }
}

/**
 * Judges the manifests of a workspace.
 *
 * @throws EdgewiseError as `checkPolicies`
 */
export function checkDomains(workspace: Policed & Desired, set: PolicySet): PolicyReport {
  const { desired } = workspace
  return checkPolicies(workspace, set, { plan: null, domains: desired.keys(), configs: desired })
}

type Placed = Pick<DeclaredPolicy, 'name' | 'level' | 'on' | 'document'>

interface Found {
  policy: Placed
  violation: Violation
}
type Spot = Place & { document: number; manifest?: string | null }

/** Maximum number of violations whose places are found: each takes a look into a manifest. */
const maxPlaces = 2000
/** Maximum number of manifests that a problem of a profile is shown with. */
const maxRelated = 10

/**
 * Groups violations by policy and place, each at the value that the policy reads. Violations beyond
 * many are at their policy.
 */
function placeViolations(workspace: Policed, found: Found[]): ViolationGroup[] {
  // A manifest is parsed once for all of its violations that follow each other.
  const byDomain = [...groupBy(found, ({ violation }) => violation.domain).values()].flat()
  const rules = new Map<Placed, Spot>()
  const placed = byDomain.map(({ policy, violation }, i) => {
    const spot = i < maxPlaces ? findSpot(workspace, violation) : null
    if (spot !== null) return { policy, violation, spot }
    // Each look into the file of a policy parses it again.
    const rule = rules.get(policy) ?? {
      ...findPlace(policy.document, '/deny'),
      document: policy.document.index,
    }
    rules.set(policy, rule)
    return { policy, violation, spot: rule }
  })
  const groups = groupBy(placed, ({ policy, violation, spot }) =>
    [policy.name, policy.level, spot.file, spot.line, spot.column, violation.fault ?? ''].join(
      '\0',
    ),
  )
  return Array.from(groups.values(), (group): ViolationGroup => {
    const violations = group.map(({ violation }) => violation)
    const { policy, diagnostic } = createViolation(workspace, group)
    const { name, level, on } = policy
    return { policy: name, level, on, violations, diagnostic }
  }).toSorted((a, b) => compareDiagnostics(a.diagnostic, b.diagnostic))
}

function findSpot(workspace: Policed, { domain, item, pointer }: Violation): Spot | null {
  if (domain === null) return null
  const value = item === null ? null : workspace.findTextPlace(domain, item, pointer)
  return value ?? workspace.findDomainPlace(domain)
}

function createViolation(
  workspace: Policed,
  group: [Found & { spot: Spot }, ...Found[]],
): { policy: Placed; diagnostic: Diagnostic } {
  const [{ policy, violation, spot }] = group
  const { manifest, ...place } = spot
  const domains = [...new Set(group.flatMap((each) => each.violation.domain ?? []))]
  const others = domains.slice(1)
  const rest =
    others.length === 0
      ? ''
      : ` The same holds for ${pluralize(others.length, 'other domain')}: ${listSome(others)}.`
  const text = violation.message.replace(/(?<![.!?…])$/, '.')
  const isFailed = violation.fault !== null
  const diagnostic: Diagnostic = {
    severity: policy.level === 'hard' ? 'error' : 'warning',
    code: isFailed ? 'policy-failed' : 'policy-violated',
    summary: isFailed ? 'A policy has no answer' : 'A policy is violated',
    detail: `${policy.name} (${policy.level}): ${text}${rest}`,
    ...place,
    domain: domains.length === 1 ? domains[0] : undefined,
    item: violation.item ?? undefined,
    count: domains.length > 1 ? domains.length : undefined,
    related: [
      ...(manifest == null ? [] : listUses(workspace, group)),
      { ...findPlace(policy.document, '/deny'), message: 'the policy' },
    ],
  }
  return { policy, diagnostic }
}

/** Lists where manifests use the profile that has a value. */
function listUses(workspace: Policed, group: Found[]): (Place & { message: string })[] {
  return group.slice(0, maxRelated).flatMap(({ violation: { domain, item, pointer } }) => {
    const found =
      domain === null || item === null ? null : workspace.findItemPlace(domain, item, pointer)
    if (found === null) return []
    const { document: _, ...place } = found
    return [{ ...place, message: `used by ${domain ?? ''}` }]
  })
}
