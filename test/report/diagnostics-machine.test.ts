import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { formatDiagnosticsGithub } from '../../src/outlets/report/diagnostics/github.ts'
import { formatDiagnosticsJson } from '../../src/outlets/report/diagnostics/json.ts'
import { formatDiagnosticsSarif } from '../../src/outlets/report/diagnostics/sarif.ts'
import { createDiagnostic, anyDiagnostic, controls } from './create-diagnostic.ts'
import { listSchemaErrors } from './output-schema.ts'
import { fc, itLong } from '../runs.ts'

const related = [
  {
    file: 'profiles/base.yaml',
    line: 3,
    column: 5,
    endLine: 3,
    endColumn: 9,
    message: 'from this profile',
  },
]

describe('formatDiagnosticsJson', () => {
  it('has the documented shape and key order', () => {
    expect(formatDiagnosticsJson([createDiagnostic({ related })])).toBe(`{
  "format": "edgewise.diagnostics/1",
  "valid": false,
  "diagnostics": [
    {
      "severity": "error",
      "code": "item-invalid",
      "summary": "Value not allowed",
      "detail": "Expected on or off, got \\"yes\\". Write on.",
      "file": "domains/www.yaml",
      "document": 0,
      "line": 7,
      "column": 12,
      "endLine": 7,
      "endColumn": 15,
      "domain": "www.example.com",
      "item": "https",
      "pointer": "/config/https/http2",
      "related": [
        {
          "file": "profiles/base.yaml",
          "line": 3,
          "column": 5,
          "endLine": 3,
          "endColumn": 9,
          "message": "from this profile"
        }
      ]
    }
  ]
}
`)
  })

  it('sorts by position, and is valid with warnings only', () => {
    const report = JSON.parse(
      formatDiagnosticsJson([
        createDiagnostic({ severity: 'warning', line: 9 }),
        createDiagnostic({ severity: 'warning', line: 2 }),
      ]),
    ) as JsonObject
    expect(report).toMatchObject({ valid: true, diagnostics: [{ line: 2 }, { line: 9 }] })
    expect(JSON.parse(formatDiagnosticsJson([]))).toEqual({
      format: 'edgewise.diagnostics/1',
      valid: true,
      diagnostics: [],
    })
  })

  itLong('matches its schema', () => {
    const named = anyDiagnostic.filter(({ file, summary, related: places = [] }) =>
      [file, summary, ...places.flatMap((place) => [place.file, place.message])].every(
        (text) => text !== '',
      ),
    )
    fc.assert(
      fc.property(fc.array(named), (diagnostics) => {
        expect(
          listSchemaErrors('diagnostics', JSON.parse(formatDiagnosticsJson(diagnostics))),
        ).toEqual([])
      }),
    )
  })
})

describe('formatDiagnosticsGithub', () => {
  it('writes one command per line', () => {
    expect(
      formatDiagnosticsGithub([
        createDiagnostic({ related }),
        createDiagnostic({ severity: 'warning', line: 8, endLine: 9, detail: '' }),
      ]),
    ).toBe(
      '::error file=domains/www.yaml,line=7,endLine=7,col=12,endColumn=15,' +
        'title=Value not allowed::Expected on or off, got "yes". Write on.' +
        '%0Aprofiles/base.yaml:3:5 from this profile\n' +
        '::warning file=domains/www.yaml,line=8,endLine=9,' +
        'title=Value not allowed::Value not allowed\n',
    )
  })

  it('escapes characters that end a property or a command', () => {
    expect(
      formatDiagnosticsGithub([
        createDiagnostic({
          file: 'a,b:c%0A.yaml',
          summary: 'x::y,z',
          detail: '50 %\n::error::no\u001b[0m',
        }),
      ]),
    ).toBe(
      '::error file=a%2Cb%3Ac%250A.yaml,line=7,endLine=7,col=12,endColumn=15,' +
        'title=x%3A%3Ay%2Cz::50 %25%0A::error::no\\u{1b}[0m\n',
    )
  })

  it('names files from the root of the repository', () => {
    expect(formatDiagnosticsGithub([createDiagnostic()], 'cdn/prod')).toContain(
      'file=cdn/prod/domains/www.yaml,',
    )
  })

  it('writes one line per diagnostic without control characters', () => {
    fc.assert(
      fc.property(fc.array(anyDiagnostic, { maxLength: 3 }), (diagnostics) => {
        const text = formatDiagnosticsGithub(diagnostics)
        expect(text).not.toMatch(controls)
        const lines = text.split('\n').slice(0, -1)
        expect(lines).toHaveLength(diagnostics.length)
        const start = /^::(error|warning) file=[^,:]*,line=\d+,endLine=\d+/.source
        const pattern = new RegExp(`${start}(,col=\\d+,endColumn=\\d+)?,title=[^,:]*::`)
        for (const line of lines) expect(line).toMatch(pattern)
      }),
    )
  })
})

describe('formatDiagnosticsSarif', () => {
  it('is a log with one run', () => {
    const log = JSON.parse(
      formatDiagnosticsSarif([createDiagnostic({ related, file: 'domains/a b#ü.yaml' })], {
        version: '1.2.3',
        folder: 'cdn',
      }),
    ) as Json
    expect(log).toEqual({
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: {
              name: 'edgewise',
              version: '1.2.3',
              rules: [
                {
                  id: 'item-invalid',
                  shortDescription: {
                    text:
                      "An item's value does not follow the specification of the service, or " +
                      'is not what is written: a number without quotes in place of text, a ' +
                      'control character, a key with nothing behind it.',
                  },
                },
              ],
            },
          },
          columnKind: 'utf16CodeUnits',
          results: [
            {
              ruleId: 'item-invalid',
              ruleIndex: 0,
              level: 'error',
              message: { text: 'Value not allowed\nExpected on or off, got "yes". Write on.' },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'cdn/domains/a%20b%23%C3%BC.yaml' },
                    region: { startLine: 7, startColumn: 12, endLine: 7, endColumn: 15 },
                  },
                  logicalLocations: [{ fullyQualifiedName: 'www.example.com/https' }],
                },
              ],
              relatedLocations: [
                {
                  id: 0,
                  physicalLocation: {
                    artifactLocation: { uri: 'cdn/profiles/base.yaml' },
                    region: { startLine: 3, startColumn: 5, endLine: 3, endColumn: 9 },
                  },
                  message: { text: 'from this profile' },
                },
              ],
            },
          ],
        },
      ],
    })
  })

  it('escapes links in a message', () => {
    const text = formatDiagnosticsSarif(
      [createDiagnostic({ detail: 'got "[click](https://example.net)"' })],
      { version: '1' },
    )
    expect(text).toContain('[click\\\\](https://example.net)')
  })

  it('lists each rule once, refers to it by index, and encodes locations as URIs', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            anyDiagnostic,
            fc.constantFrom('yaml-invalid' as const, 'item-unknown' as const),
          ),
        ),
        (pairs) => {
          const diagnostics = pairs.map(([diagnostic, code]) => ({ ...diagnostic, code }))
          const run = parseRun(formatDiagnosticsSarif(diagnostics, { version: '1' }))
          const ids = run.tool.driver.rules.map((rule) => rule.id)
          expect(new Set(ids).size).toBe(ids.length)
          expect(run.results).toHaveLength(diagnostics.length)
          for (const result of run.results) {
            expect(ids[result.ruleIndex]).toBe(result.ruleId)
            for (const location of result.locations)
              expect(location.physicalLocation.artifactLocation.uri).toMatch(
                /^([\w\-.!~*'()/]|%[0-9A-F]{2})*$/,
              )
          }
        },
      ),
    )
  })
})

interface Run {
  tool: { driver: { rules: { id: string }[] } }
  results: {
    ruleId: string
    ruleIndex: number
    locations: { physicalLocation: { artifactLocation: { uri: string } } }[]
  }[]
}

function parseRun(text: string): Run {
  const log = JSON.parse(text) as { runs: [Run] }
  if (!isObject(log)) throw new TypeError('expected an object')
  return log.runs[0]
}
