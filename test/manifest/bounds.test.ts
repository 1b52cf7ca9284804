// @module-tag often
import { expect, it } from 'vitest'
import { formatDiagnosticsGithub } from '../../src/outlets/report/diagnostics/github.ts'
import { formatDiagnosticsJson } from '../../src/outlets/report/diagnostics/json.ts'
import { formatDiagnosticsSarif } from '../../src/outlets/report/diagnostics/sarif.ts'
import { formatDiagnosticsText } from '../../src/outlets/report/diagnostics/text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { itLong } from '../runs.ts'
import { createFolder, createWorkspace, plainKeeper } from './test-workspace.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'

const buildItems = (domain: string, count: number) => {
  const items = Array.from({ length: count }, (_, i) => `  i${i}: 1\n`)
  return `domain: ${domain}\nconfig:\n${items.join('')}`
}

itLong('200,000 domains of one manifest are desired', () => {
  const names = Array.from({ length: 200_000 }, (_, i) => `- d${i}.e.io\n`).join('')
  const { desired, diagnostics } = createWorkspace({
    'domains/a.yaml': `config: {}\ndomains:\n${names}`,
  })
  expect([desired.size, diagnostics]).toEqual([200_000, []])
})

it('the first 200 problems of a file are listed, and one counts the rest, in every format', () => {
  const { diagnostics } = createWorkspace({
    'domains/a.yaml': buildItems('a.example.com', 3000),
    'domains/b.yaml': buildItems('b.example.com', 200),
  })
  expect(diagnostics.map(({ code }) => code)).toEqual([
    ...Array.from({ length: 200 }, () => 'item-unknown'),
    'too-many-problems',
    ...Array.from({ length: 200 }, () => 'item-unknown'),
  ])
  const rest = { code: 'too-many-problems', severity: 'error', line: 203, column: 3, count: 2800 }
  expect(diagnostics[200]).toMatchObject({ ...rest, file: 'domains/a.yaml' })

  const json = JSON.parse(formatDiagnosticsJson(diagnostics)) as { diagnostics: object[] }
  expect(listSchemaErrors('diagnostics', json)).toEqual([])
  expect(json.diagnostics[200]).toMatchObject(rest)
  const style = { findLine: () => null, paint: plainPaint, columns: 80 }
  const text = formatDiagnosticsText(diagnostics, style)
  expect(text).toContain('2,800 problems from here on are not listed')
  expect(text).toContain('3,200 errors in 2 files')
  expect(formatDiagnosticsGithub(diagnostics)).toMatch(
    /^::error file=domains\/a.yaml,line=203,.*2,800 problems from here on are not listed/m,
  )
  const sarif = JSON.parse(formatDiagnosticsSarif(diagnostics, { version: '1' })) as {
    runs: [{ results: { ruleId: string }[] }]
  }
  expect(sarif.runs[0].results[200]).toMatchObject({ ruleId: 'too-many-problems', level: 'error' })
})

it('the problems of edgewise.yaml are limited, too', () => {
  const keys = Array.from({ length: 1000 }, (_, i) => `k${i}: 1\n`).join('')
  const root = createFolder({ 'edgewise.yaml': `version: 1\n${keys}` })
  expect(() => loadWorkspace(root, {}, () => plainKeeper)).toThrow(
    expect.objectContaining({ diagnostics: expect.objectContaining({ length: 201 }) as object }),
  )
})
