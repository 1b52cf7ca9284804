import { findDeciding } from '../../core/tests/deciding.ts'
import type { DecidingRule, TestFailure, TestResult } from '../../core/tests/results.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { trace } from '../../core/trace/trace.ts'
import { BadRequest } from '../../core/trace/url.ts'
import { findPlace } from '../../manifest/yaml/yaml-place.ts'
import type { Computing } from '../runtime/parts.ts'
import type { Checker, Failure } from './checker.ts'
import type { ResolvedTest, Unit } from './resolve-tests.ts'

/** Runs tests against the manifests, in their order. */
export async function runTests(
  checker: Checker,
  tests: ResolvedTest[],
  outside: Computing,
): Promise<TestResult[]> {
  const results: TestResult[] = []
  for (const [done, resolved] of tests.entries()) {
    outside.onPhase?.({ name: 'testing', done, total: tests.length })
    const { test, units } = resolved
    const { document } = test
    const failures: TestFailure[] = []
    for await (const failure of checker.findFailures(resolved, ({ items }) => items))
      failures.push(explain(failure, resolved, checker))
    results.push({
      name: test.test,
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
  { test, settings }: ResolvedTest,
  checker: Checker,
): DecidingRule[] {
  if (traced !== undefined)
    try {
      const found = trace(checker.compile(domain, items, settings), traced.request)
      return findDeciding(found, traced.asked.path)
    } catch (error) {
      if (error instanceof BadRequest) return []
      throw error
    }
  if (check === 'policy') return read === undefined ? [] : [read]
  const [item = ''] = name.split('/')
  if (check === 'item') return [{ item, pointer: name.slice(item.length) }]
  const refused = /item\((\w+)\)/.exec('value' in got ? String(got.value) : '')?.[1]
  const named = check === 'plan' ? Object.keys(test.plan?.from ?? {}) : [refused ?? []].flat()
  return named.map((each) => ({ item: each, pointer: '' }))
}

function placeRule({ items, findSource }: Unit, rule: DecidingRule): DecidingRule {
  const source = items.has(rule.item) ? findSource(rule.item, rule.pointer) : null
  if (source === null) return rule
  const { file, line, column } = findPlace(source.document, source.pointer)
  return { ...rule, file, line, column, manifest: source.manifest ?? undefined }
}
