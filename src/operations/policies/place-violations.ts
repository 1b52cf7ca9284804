import type { Policed } from '../runtime/workspace-parts.ts'
import { isObject } from '../../core/model/json.ts'
import { groupBy } from '../../core/model/lists.ts'
import { compareDiagnostics, type Diagnostic, type Place } from '../../core/model/problem.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import type { Violation } from '../../core/policy/policy.ts'
import type { ViolationGroup } from '../../core/policy/report.ts'
import type { DeclaredPolicy } from '../../manifest/policies/load-policies.ts'
import { findPlace } from '../../manifest/yaml/yaml-place.ts'

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
export function placeViolations(workspace: Policed, found: Found[]): ViolationGroup[] {
  // A manifest is parsed once for all of its violations that follow each other.
  const byDomain = [...groupBy(found, ({ violation }) => violation.domain).values()].flat()
  const rules = new Map<Placed, Spot>()
  const placed = byDomain.map(({ policy, violation }, i) => {
    const spot = i < maxPlaces ? findSpot(workspace, violation) : null
    if (spot !== null) return { policy, violation, spot }
    // Each look into the file of a policy parses it again.
    const rule = rules.get(policy) ?? { ...findRule(policy), document: policy.document.index }
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

/** Finds the expression or the program of a policy. */
function findRule({ document }: Placed): Place {
  const { value } = document
  return findPlace(document, isObject(value) && 'command' in value ? '/command' : '/deny')
}

function findSpot(workspace: Policed, { domain, item, pointer }: Violation): Spot | null {
  if (domain === null) return null
  const value = item === null ? null : workspace.findTextPlace(domain, item, pointer)
  return value ?? workspace.findDomainPlace(domain)
}

function createViolation(
  workspace: Policed,
  group: (Found & { spot: Spot })[],
): { policy: Placed; diagnostic: Diagnostic } {
  const [first] = group
  if (first === undefined) throw new TypeError('expected a group with a violation')
  const { policy, violation, spot } = first
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
    severity: isError(policy, isFailed) ? 'error' : 'warning',
    code: isFailed ? 'policy-failed' : 'policy-violated',
    summary: isFailed ? 'A policy has no answer' : 'A policy is violated',
    detail: `${policy.name} (${policy.level}): ${text}${rest}`,
    ...place,
    ...(domains.length === 1 ? { domain: domains[0] } : {}),
    ...(violation.item === null ? {} : { item: violation.item }),
    ...(domains.length > 1 ? { count: domains.length } : {}),
    related: [
      ...(manifest == null ? [] : listUses(workspace, group)),
      { ...findRule(policy), message: 'the policy' },
    ],
  }
  return { policy, diagnostic }
}

/** An answer that is not known is one of nature; a missing key is an error of the policy. */
function isError({ level, on }: Placed, isFailed: boolean): boolean {
  return level === 'hard' || (isFailed && on !== 'request')
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
