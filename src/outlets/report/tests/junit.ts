import { groupBy } from '../../../core/model/lists.ts'
import type { Tested, TestResult } from '../../../core/tests/results.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { plainPaint } from '../text/paint.ts'
import { formatResult, describeFailure } from './text.ts'

/** Formats results as JUnit XML: a suite a file, a case a test, with what failed. */
export function formatTestsJunit({ results }: Tested): string {
  const suites = [...groupBy(results, ({ file }) => file)].map(
    ([file, tests]) =>
      `  <testsuite name=${quote(file)} ${count(tests)}>\n` +
      `${tests.map(formatCase).join('')}  </testsuite>\n`,
  )
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<testsuites name="edgewise test" ${count(results)}>\n${suites.join('')}</testsuites>\n`
  )
}

function formatCase(result: TestResult): string {
  const { name, file, line, failures } = result
  const start = `    <testcase name=${quote(name)} classname=${quote(file)} line="${line}"`
  if (failures.length === 0) return `${start}/>\n`
  const message = failures.slice(0, 3).map(describeFailure).join('; ')
  const text = formatResult(result, { paint: plainPaint, columns: 80 })
  const body = text.split('\n').map(escapeXml).join('\n')
  return `${start}>\n      <failure message=${quote(message)}>${body}</failure>\n    </testcase>\n`
}

function count(results: readonly TestResult[]): string {
  const failed = results.filter(({ outcome }) => outcome === 'failed').length
  return `tests="${results.length}" failures="${failed}" errors="0" skipped="0"`
}

function quote(text: string): string {
  return `"${escapeXml(text)}"`
}

/** Escapes a text for XML 1.0, also characters that it can't have. */
function escapeXml(text: string): string {
  const visible = escapeInvisible(text).replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
  return visible.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
