import { parseTest } from '../../core/tests/parse-test.ts'
import type { TestCase } from '../../core/tests/test-case.ts'
import { findRealPath } from '../../files/look.ts'
import { append } from '../../core/model/lists.ts'
import type { Diagnostic } from '../../core/model/problem.ts'
import { findFiles } from '../manifests/find-files.ts'
import { createDiagnostic, ProblemQuota, type Finding } from '../manifests/finding.ts'
import type { FileGlobs } from '../workspace-file/file-kinds.ts'
import { findConverted, findEmpty } from '../yaml/written-scalars.ts'
import { loadSource } from '../manifests/load-source.ts'
import { parseYaml, type DocumentPlace } from '../yaml/yaml-file.ts'

/** A test, and the document that it stands in. */
export interface LoadedTest extends TestCase {
  document: DocumentPlace
}

/** The tests of a workspace. */
export interface LoadedTests {
  /** In the order of their files and documents. */
  tests: LoadedTest[]
  /** Every file that the globs find, also those that can't be loaded. */
  paths: string[]
  diagnostics: Diagnostic[]
}

/** Loads the tests that globs find below a root; problems of their files become diagnostics. */
export function loadTests(root: string, config: FileGlobs): LoadedTests {
  const folder = findRealPath(root)
  const { paths, diagnostics } = findFiles(folder, config, ['tests'])
  const tests: LoadedTest[] = []
  const quota = new ProblemQuota()
  for (const path of paths) {
    const source = loadSource(folder, path)
    if ('severity' in source) diagnostics.push(source)
    else {
      const parsed = parseYaml(source)
      append(diagnostics, parsed.diagnostics)
      for (const { value, ...document } of parsed.documents) {
        const report = createReport(document, quota, diagnostics)
        for (const base of ['/given/config', '/plan/from'])
          for (const finding of findConverted(document, base, 'test-invalid')) report(finding)
        for (const finding of findEmpty(document, '/given/config', 'test-invalid', null))
          report(finding)
        const test = parseTest(value, (pointer, detail, part) => report({ pointer, detail, part }))
        if (test !== null) tests.push({ ...test, document })
      }
    }
  }
  append(diagnostics, quota.summarize())
  return { tests, paths, diagnostics }
}

/** Reports a problem of a document with tests; by default, the test has a wrong form. */
export type ReportProblem = (
  finding: Pick<Finding, 'pointer' | 'detail'> & Partial<Finding>,
) => void

/** Creates the report of a document with tests, which adds diagnostics up to the quota. */
export function createReport(
  document: DocumentPlace,
  quota: ProblemQuota,
  diagnostics: Diagnostic[],
): ReportProblem {
  const form = { code: 'test-invalid', summary: 'This test is not well-formed' } as const
  return (problem) => {
    for (const finding of quota.take(document, [{ ...form, ...problem }]))
      diagnostics.push(createDiagnostic(document, finding))
  }
}
