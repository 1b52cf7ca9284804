import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { groupBy } from '../core/model/lists.ts'
import { limitProblems } from '../core/model/problem.ts'
import { compileDomainGlob, findGlobFault } from '../core/model/text/domain-glob.ts'
import type { Tested } from '../core/tests/results.ts'
import { loadTests, type LoadedTests } from '../manifest/tests/load-tests.ts'
import type { Computing } from './runtime/parts.ts'
import { Checker } from './testing/checker.ts'
import { mutate } from './testing/mutate.ts'
import { resolveTests, type TestedWorkspace } from './testing/resolve-tests.ts'
import { createMalformed, runTests } from './testing/run-tests.ts'
import { refuseInvalid } from './refuse-invalid.ts'

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
