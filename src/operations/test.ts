import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { groupBy } from '../core/model/lists.ts'
import { limitProblems, type Diagnostic } from '../core/model/problem.ts'
import { compileDomainGlob, findGlobFault } from '../core/model/text/domain-glob.ts'
import type { Tested, DecidingRule, TestFailure, TestResult } from '../core/tests/results.ts'
import { loadTests, type LoadedTests } from '../manifest/tests/load-tests.ts'
import type { Computing } from './runtime/parts.ts'
import { Checker, type Failure } from './testing/checker.ts'
import { mutate } from './testing/mutate.ts'
import {
  resolveTests,
  type TestedWorkspace,
  type ResolvedTest,
  type Unit,
} from './testing/resolve-tests.ts'
import { refuseInvalid } from './runtime/refuse-invalid.ts'
import { findDeciding } from '../core/tests/deciding.ts'
import type { Domain } from '../core/model/item.ts'
import { trace } from '../core/trace/trace.ts'
import { BadRequest } from '../core/trace/url.ts'
import { findPlace } from '../manifest/yaml/yaml-place.ts'

/** Which tests run, and what is done with them. */
export interface TestRequest {
  /** Globs of names: `*video*`; without any, all tests run. */
  run?: string
  /** Also finds the changes of manifests that no test guards against; at most so many. */
  mutate?: { limit: number } | null
}

/**
 * Runs the tests of a workspace against its manifests: without the service, secrets and state.
 *
 * @param isSelected tests whether the tests of a file run
 * A malformed test fails, whatever its name.
 *
 * @throws EdgewiseError `invalid` when a manifest has errors, or a file of policies that a test
 *   needs, `usage` for a bad glob
 */
export async function test(
  workspace: TestedWorkspace,
  { run, mutate: mutation = null }: TestRequest,
  outside: Computing,
  loaded: LoadedTests = loadTests(workspace.root, workspace.config),
  isSelected: (path: string) => boolean = () => true,
): Promise<Tested> {
  refuseInvalid(workspace)
  const fault = run === undefined ? null : findGlobFault(run)
  if (fault !== null) throw new EdgewiseError('usage', `--run: ${fault}`)
  const matches = run === undefined ? () => true : compileDomainGlob(run)
  const selected = loaded.tests.filter(({ document }) => isSelected(document.file.path))
  const policies = selected.some((each) => each.expect !== undefined)
    ? (await import('./testing/judge-test.ts')).loadTestPolicies(workspace)
    : null
  const { resolved, diagnostics } = resolveTests(workspace, selected, (...each) =>
    policies?.check(...each),
  )
  const own = loaded.diagnostics.filter(({ file }) => isSelected(file))
  const errors = limitProblems([...own, ...diagnostics].filter((e) => e.severity === 'error'))
  const malformed = groupBy(errors, ({ file, document }) => `${document} ${file}`)
  const chosen = resolved.filter(
    ({ test: { test: name, document } }) =>
      matches(name) && !malformed.has(`${document.index} ${document.file.path}`),
  )
  const checker = new Checker(workspace, outside, policies)
  const ran = await runTests(checker, chosen, outside)
  const results = [...ran, ...Array.from(malformed.values(), createMalformed)]
  const hasFailed = results.some(({ outcome }) => outcome === 'failed')
  const mutations =
    mutation === null || hasFailed || chosen.length === 0
      ? null
      : await mutate(workspace, checker, chosen, mutation.limit, outside)
  return { results, mutations }
}

/** Runs tests against the manifests, in their order. */
export async function runTests(
  checker: Checker,
  tests: ResolvedTest[],
  outside: Computing,
): Promise<TestResult[]> {
  const results: TestResult[] = []
  for (const [done, resolved] of tests.entries()) {
    outside.onPhase?.({ name: 'testing', done, total: tests.length })
    const { test: own, units } = resolved
    const { document } = own
    const failures: TestFailure[] = []
    for await (const failure of checker.findFailures(resolved, ({ items }) => items))
      failures.push(explain(failure, resolved, checker))
    results.push({
      name: own.test,
      outcome: failures.length === 0 ? 'passed' : 'failed',
      file: document.file.path,
      get line() {
        return findPlace(document, '/test').line
      },
      domains: units.flatMap(({ isGiven, domain }) => (isGiven ? [] : [domain])),
      failures,
    })
  }
  return results
}

/** Creates the result of a malformed test, which may have no name. */
export function createMalformed(problems: Diagnostic[]): TestResult {
  const domains: Domain[] = []
  const failures = problems.map(({ summary: name, detail: value, file, line, column }) => {
    const [expected, got] = ['a well-formed test', { value }]
    return { check: 'form' as const, name, file, line, column, domains, expected, got, rules: [] }
  })
  const { file = '', line = 1 } = failures[0] ?? {}
  return { name: `document at line ${line}`, outcome: 'failed', file, line, domains, failures }
}

/** Rules of a failure that are named. */
const maxRules = 4

/** Adds the place of an expectation, and the rules that decide what it got. */
function explain(failure: Failure, resolved: ResolvedTest, checker: Checker): TestFailure {
  const { pointer, units, traced, read: _, ...rest } = failure
  const [unit] = units
  const rules = unit === undefined ? [] : listRules(failure, unit, resolved, checker)
  const placed = rules.map((rule) => (unit === undefined ? rule : placeRule(unit, rule)))
  // Items that are not set matter only if nothing else decides.
  const set = placed.filter(({ file }) => file !== undefined)
  const { file, line, column } = findPlace(resolved.test.document, pointer)
  return {
    ...rest,
    file,
    line,
    column,
    domains: units.map(({ domain }) => domain),
    url: traced && String(traced.request['url']),
    rules: (set.length > 0 ? set : placed).slice(0, maxRules),
  }
}

function listRules(
  { check, name, got, traced, read }: Failure,
  { domain, items }: Unit,
  { test: own, settings }: ResolvedTest,
  checker: Checker,
): DecidingRule[] {
  if (traced !== undefined)
    try {
      const found = trace(checker.compile(domain, items, settings), traced.request, {
        visitor: 'usual',
        asks: false,
      })
      return findDeciding(found, traced.asked.path)
    } catch (error) {
      if (error instanceof BadRequest) return []
      throw error
    }
  if (check === 'policy') return read === undefined ? [] : [read]
  const [item = ''] = name.split('/')
  if (check === 'item') return [{ item, pointer: name.slice(item.length) }]
  const refused = /item\((\w+)\)/.exec('value' in got ? String(got.value) : '')?.[1]
  const named = check === 'plan' ? Object.keys(own.plan?.from ?? {}) : [refused ?? []].flat()
  return named.map((each) => ({ item: each, pointer: '' }))
}

function placeRule({ items, findSource }: Unit, rule: DecidingRule): DecidingRule {
  const source = items.has(rule.item) ? findSource(rule.item, rule.pointer) : null
  if (source === null) return rule
  const { file, line, column } = findPlace(source.document, source.pointer)
  return { ...rule, file, line, column, manifest: source.manifest ?? undefined }
}
