import { didYouMean } from '../../core/catalog/value/nearest.ts'
import type { Json } from '../../core/model/json.ts'
import { createConfigLookup } from '../../core/policy/cases.ts'
import type { Judgement } from '../../core/policy/judge.ts'
import type { Violation } from '../../core/policy/policy.ts'
import type { Subject } from '../../core/policy/subject.ts'
import type { TestCase } from '../../core/tests/test-case.ts'
import { findRealPath } from '../../files/look.ts'
import { loadPolicies } from '../../manifest/policies/load-policies.ts'
import { judgeAll, refuseInvalidPolicies } from '../policies/check-policies.ts'
import { createRequestCase } from '../policies/load-request-cases.ts'
import type { Failure, TestPolicies } from './checker.ts'
import type { ResolvedTest, TestedWorkspace } from './resolve-tests.ts'

/**
 * Loads the policies of a workspace for its tests, which know no exceptions.
 *
 * @throws EdgewiseError `invalid` if a file of policies has an error
 */
export function loadTestPolicies({ root, policyFiles }: TestedWorkspace): TestPolicies {
  const { policies, diagnostics } = loadPolicies(findRealPath(root), policyFiles)
  refuseInvalidPolicies(diagnostics)
  return {
    check: (test, report) => {
      const names = test.expect?.violates
      if (names?.length === 0 && !policies.some(({ on }) => judges(on, test)))
        report({
          pointer: '/expect/violates',
          detail: 'no policy of the workspace judges this test',
        })
      for (const [i, name] of names?.entries() ?? []) {
        const on = policies.find((policy) => policy.name === name)?.on
        const detail =
          on === undefined
            ? `there is no policy "${name}".${didYouMean(
                name,
                policies.map((each) => each.name),
              )}`
            : judges(on, test)
              ? null
              : `the policy "${name}" is on: ${on}, and this test has no ` +
                `"${on === 'request' ? 'requests' : 'plan'}"`
        if (detail !== null) report({ pointer: `/expect/violates/${i}`, detail })
      }
    },
    *findFailures(resolved, { configs, traces, plan }) {
      const find = createConfigLookup(configs)
      const traced = traces.map(({ request, output }) => createRequestCase(request, output, find))
      const own = policies.filter(({ on }) => judges(on, resolved.test))
      const requests = new Map(own.map(({ name }) => [name, traced]))
      const judged = { plan, domains: configs.keys(), configs }
      for (const [{ name, on }, judgement] of judgeAll(own, requests, judged))
        yield* compare(name, on, judgement, resolved)
    },
  }
}

/** Tests whether a test has what a policy judges. */
function judges(on: Subject, { traces, plan }: TestCase): boolean {
  return on === 'domain' || (on === 'request' ? traces.length > 0 : plan !== undefined)
}

/** Compares what a policy found with what a test expects. */
function* compare(
  name: string,
  on: Subject,
  { violations }: Judgement,
  { test, units }: ResolvedTest,
): Generator<Failure> {
  const index = test.expect?.violates.indexOf(name) ?? -1
  const isExpected = index !== -1
  const create = (found: Violation[], got: Json): Failure => {
    const domains = new Set(found.map(({ domain }) => domain))
    const { item = null, pointer = '' } = found[0] ?? {}
    const isOfAll = domains.size === 0 || domains.has(null)
    return {
      check: 'policy',
      pointer: isExpected ? `/expect/violates/${index}` : '/expect/violates',
      name,
      units: isOfAll ? units : units.filter(({ domain }) => domains.has(domain)),
      expected: isExpected ? 'violated' : 'not violated',
      got: { value: got },
      read: item === null ? undefined : { item, pointer },
    }
  }
  const failed = violations.filter(({ fault }) => fault !== null)
  if (failed[0] !== undefined) yield create(failed, `no answer: ${failed[0].fault}`)
  const violated = violations.filter(({ fault }) => fault === null)
  const [first] = violated
  if (!isExpected && first !== undefined) yield create(violated, `violated: ${first.message}`)
  if (!isExpected) return
  // Each domain must violate a policy on domains, something of the test one on anything else.
  const found = new Set(violations.map(({ domain }) => domain))
  const missing = on === 'domain' ? units.filter(({ domain }) => !found.has(domain)) : units
  if (missing.length > 0 && (on === 'domain' || found.size === 0))
    yield { ...create([], 'not violated'), units: missing }
}
