// @module-tag often
import { describe, expect, it } from 'vitest'
import { formatDiagnosticsGithub } from '../../src/outlets/report/diagnostics/github.ts'
import { formatDiagnosticsJson } from '../../src/outlets/report/diagnostics/json.ts'
import { formatDiagnosticsSarif } from '../../src/outlets/report/diagnostics/sarif.ts'
import { formatDiagnosticsText } from '../../src/outlets/report/diagnostics/text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { createWorkspace, listMarks } from './test-workspace.ts'

/** Creates manifests `domains/d00.yaml` and so on with these texts after their domain. */
function manifests(count: number, rest: string | ((i: number) => string)): Record<string, string> {
  const name = (i: number) => `d${String(i).padStart(2, '0')}`
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `domains/${name(i)}.yaml`,
      `domain: ${name(i)}.example.com\n${typeof rest === 'string' ? rest : rest(i)}`,
    ]),
  )
}

describe('a problem that a profile itself has', () => {
  it('is one diagnostic at the profile, with the number of domains and ten manifests', () => {
    const { diagnostics } = createWorkspace({
      'profiles/p.yaml': 'profile: inner\nconfig:\n  https: {cert_id: 1, http2: yes}\n',
      'profiles/q.yaml': 'profile: outer\nprofiles: [inner]\n',
      ...manifests(12, 'profiles:\n  - outer\n'),
      'domains/two.yaml': 'domains: [x.example.com, y.example.com]\nprofiles: [inner]\n',
    })
    expect(diagnostics).toMatchObject([
      {
        severity: 'error',
        code: 'item-invalid',
        detail: 'expected one of "on", "off", got "yes". Did you mean "on"? (14 domains)',
        file: 'profiles/p.yaml',
        line: 3,
        column: 30,
        endColumn: 33,
        document: 0,
        item: 'https',
        pointer: '/config/https/http2',
        count: 14,
      },
    ])
    expect(diagnostics[0]).not.toHaveProperty('domain')
    const related = diagnostics[0]?.related ?? []
    expect(related.map(({ file }) => file)).toEqual(
      Array.from({ length: 10 }, (_, i) => `domains/d0${i}.yaml`),
    )
    expect(related[0]).toMatchObject({ line: 3, column: 5, endColumn: 10, message: 'used here' })
  })

  it('names the domain if it is the only one, and counts the domains of a manifest', () => {
    const profile = 'profile: p\nconfig: {htps: {}}\n'
    const one = createWorkspace({ 'profiles/p.yaml': profile, ...manifests(1, 'profiles: [p]\n') })
    expect(one.diagnostics).toMatchObject([
      { code: 'item-unknown', file: 'profiles/p.yaml', domain: 'd00.example.com', count: 1 },
    ])
    expect(one.diagnostics[0]?.detail).not.toContain('domain')
    const two = createWorkspace({
      'profiles/p.yaml': profile,
      'domains/two.yaml': 'domains: [x.example.com, y.example.com]\nprofiles: [p]\n',
    })
    expect(two.diagnostics).toMatchObject([
      { count: 2, related: [{ line: 2, message: 'used here by 2 domains' }] },
    ])
  })

  it('is reported at edgewise.yaml for the defaults', () => {
    const { diagnostics } = createWorkspace({
      'edgewise.yaml': 'version: 1\ndefaults: {https: {cert_id: x}}\n',
      ...manifests(3, 'config: {}\n'),
    })
    expect(diagnostics).toMatchObject([
      {
        file: 'edgewise.yaml',
        line: 2,
        column: 29,
        pointer: '/defaults/https/cert_id',
        count: 3,
        related: [
          { file: 'domains/d00.yaml', line: 1, column: 1, endColumn: 7, message: 'used here' },
          { file: 'domains/d01.yaml' },
          { file: 'domains/d02.yaml' },
        ],
      },
    ])
  })

  it('stays there if a manifest adds to the item', () => {
    const workspace = createWorkspace({
      'profiles/p.yaml': 'profile: p\nconfig:\n  https: {http2: yes}\n',
      ...manifests(2, (i) => `profiles: [p]\nconfig: {https: {cert_id: ${i + 1}}}\n`),
    })
    expect(listMarks(workspace)).toEqual(['profiles/p.yaml:3:18-21 item-invalid'])
    expect(workspace.diagnostics[0]?.count).toBe(2)
  })

  it('has the place in a list that the profile appends', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': 'version: 1\ndefaults: {ip_black_list: {list: [192.0.2.1]}}\n',
      'profiles/p.yaml': 'profile: p\nconfig:\n  ip_black_list: {list: {$append: [nonsense]}}\n',
      ...manifests(2, 'profiles: [p]\n'),
    })
    expect(listMarks(workspace)).toEqual(['profiles/p.yaml:3:36-44 item-invalid'])
    expect(workspace.diagnostics[0]).toMatchObject({
      count: 2,
      pointer: '/config/ip_black_list/list/$append/0',
    })
  })

  it('can be a conflict, a failed merge, or a rule between fields', () => {
    const workspace = createWorkspace({
      'profiles/p.yaml':
        'profile: p\nconfig:\n  ip_black_list: {list: [192.0.2.1]}\n' +
        '  ip_white_list: {list: [192.0.2.2]}\n  https: {cert_id: 0, http2: on}\n' +
        '  extend: {squid: {$append: x}}\n',
      ...manifests(2, 'profiles: [p]\n'),
    })
    expect(
      workspace.diagnostics.map(({ line, code, severity, count }) => [line, code, severity, count]),
    ).toEqual([
      [4, 'item-conflict', 'error', 2],
      [5, 'item-invalid', 'warning', 2],
      [6, 'item-invalid', 'error', 2],
    ])
    expect(workspace.diagnostics[0]?.related).toMatchObject([
      { line: 3, message: '"ip_black_list" is declared here' },
      { file: 'domains/d00.yaml' },
      { file: 'domains/d01.yaml' },
    ])
  })

  it('is a missing field or variable only if every manifest that uses it lacks them', () => {
    const profile = 'profile: p\nconfig:\n  https: {http2: on}\n  origin_host: {host: "${var:h}"}\n'
    const all = createWorkspace({
      'profiles/p.yaml': profile,
      ...manifests(3, 'profiles: [p]\n'),
    })
    expect(listMarks(all)).toEqual([
      'profiles/p.yaml:3:3-8 item-invalid',
      'profiles/p.yaml:4:23-33 reference-unknown',
    ])
    expect(all.diagnostics.map(({ count }) => count)).toEqual([3, 3])
    const some = createWorkspace({
      'profiles/p.yaml': profile,
      ...manifests(2, 'profiles: [p]\n'),
      'domains/good.yaml':
        'domain: good.example.com\nprofiles: [p]\nvars: {h: x.example.net}\n' +
        'config: {https: {cert_id: 1}}\n',
    })
    expect(listMarks(some)).toEqual([
      'domains/d00.yaml:2:12-13 item-invalid',
      'domains/d00.yaml:2:12-13 reference-unknown',
      'domains/d01.yaml:2:12-13 item-invalid',
      'domains/d01.yaml:2:12-13 reference-unknown',
    ])
    expect(some.diagnostics[0]?.related).toMatchObject([
      { file: 'profiles/p.yaml', line: 3, message: 'set here by profile "p"' },
    ])
  })
})

it('reports texts that differ by domain or variable at each manifest', () => {
  const workspace = createWorkspace({
    'profiles/p.yaml': 'profile: p\nconfig: {origin_host: {host: "-${domain}"}}\n',
    ...manifests(2, 'profiles: [p]\n'),
  })
  expect(workspace.diagnostics).toMatchObject([
    { file: 'domains/d00.yaml', related: [{ file: 'profiles/p.yaml' }] },
    { file: 'domains/d01.yaml', related: [{ file: 'profiles/p.yaml' }] },
  ])
  expect(workspace.diagnostics.map(({ count }) => count)).toEqual([undefined, undefined])
})

it('reports a value that only a manifest makes wrong at its profile entry', () => {
  const { diagnostics } = createWorkspace({
    'profiles/p.yaml': 'profile: p\nconfig:\n  https: {http2: on}\n',
    'domains/a.yaml': 'domain: a.example.com\nprofiles: [p]\nconfig: {https: {cert_id: 0}}\n',
    'domains/b.yaml': 'domain: b.example.com\nprofiles: [p]\nconfig: {https: {cert_id: 1}}\n',
  })
  expect(diagnostics).toMatchObject([
    {
      file: 'domains/a.yaml',
      line: 2,
      column: 12,
      endColumn: 13,
      pointer: '/profiles/0',
      severity: 'warning',
      related: [{ file: 'profiles/p.yaml', line: 3, message: 'set here by profile "p"' }],
    },
  ])
})

describe('a profile that no manifest uses', () => {
  it('is checked as far as it can be judged alone', () => {
    const workspace = createWorkspace({
      'profiles/p.yaml':
        'profile: p\nconfig:\n  htps: {}\n  https: {http2: yes, htp2: on}\n  timeout: 5\n' +
        '  deny_protocol: {protocol: http}\n  extend: {squid: {$append: x}}\n' +
        '  origin_host: {host: "${secret:none}"}\n',
      'edgewise.yaml': 'version: 1\ndefaults: {ip_black_list: {list: nonsense}}\n',
    })
    expect(listMarks(workspace)).toEqual([
      'edgewise.yaml:2:34-42 item-invalid',
      'profiles/p.yaml:3:3-7 item-unknown',
      'profiles/p.yaml:4:18-21 item-invalid',
      'profiles/p.yaml:4:23-27 item-invalid',
      'profiles/p.yaml:5:12-13 item-invalid',
      'profiles/p.yaml:6:3-16 item-unnamed',
      'profiles/p.yaml:7:20-27 item-invalid',
      'profiles/p.yaml:8:23-39 reference-unknown',
    ])
    for (const diagnostic of workspace.diagnostics) {
      expect(diagnostic).not.toHaveProperty('count')
      expect(diagnostic).not.toHaveProperty('domain')
    }
  })

  it('may leave open what manifests can supply', () => {
    const workspace = createWorkspace({
      'profiles/p.yaml':
        'profile: p\nconfig:\n  https: {http2: on}\n  origin_host: {host: "${var:x}"}\n' +
        '  ip_black_list: {list: ["${var:a}", "${var:b}", "${domain}"]}\n' +
        '  ip_white_list: {list: []}\n  user_agent: {url_pattern: [a, b]}\n' +
        '  timeout: {time: "${var:seconds}"}\n',
    })
    expect(listMarks(workspace)).toEqual([])
  })

  it('reports a missing field of a list entry, and no secret in plain text', () => {
    const workspace = createWorkspace({
      'profiles/p.yaml':
        'profile: p\nconfig:\n  visit_timestamp: {key: hunter2}\n  new_origin: [{port: 1}]\n',
    })
    expect(workspace.diagnostics.map(({ line, code }) => [line, code])).toEqual([
      [3, 'secret-literal'],
      [4, 'item-invalid'],
    ])
    expect(JSON.stringify(workspace.diagnostics)).not.toContain('hunter2')
  })
})

it('lists the first 200 problems of a profile that many manifests use', () => {
  const wrong = Array.from({ length: 250 }, (_, i) => `  wrong${i}: {}\n`).join('')
  const { diagnostics } = createWorkspace({
    'profiles/p.yaml': `profile: p\nconfig:\n${wrong}`,
    ...manifests(20, 'profiles: [p]\n'),
  })
  expect(diagnostics).toHaveLength(201)
  expect(diagnostics[0]).toMatchObject({ count: 20 })
  expect(diagnostics.at(-1)).toMatchObject({ code: 'too-many-problems', count: 50 })
})

it('is short in every format, whatever the number of domains', () => {
  const { diagnostics, findSourceLine } = createWorkspace({
    'profiles/p.yaml': 'profile: p\nconfig: {https: {cert_id: x}}\n',
    'domains/all.yaml': Array.from(
      { length: 500 },
      (_, i) => `domain: d${i}.example.com\nprofiles: [p]\n`,
    ).join('---\n'),
  })
  expect(diagnostics).toHaveLength(1)
  const json = JSON.parse(formatDiagnosticsJson(diagnostics)) as { diagnostics: object[] }
  expect(listSchemaErrors('diagnostics', json)).toEqual([])
  expect(json.diagnostics).toMatchObject([{ count: 500 }])
  const detail = 'expected a whole number, got "x" (500 domains)'
  const style = { findLine: findSourceLine, paint: plainPaint, columns: 80 }
  const uses = Array.from({ length: 10 }, (_, i) => `domains/all.yaml:${i * 3 + 2}:12`)
  expect(formatDiagnosticsText(diagnostics, style)).toBe(
    `profiles/p.yaml:2:27  error  The service refuses this value\n  ${detail}\n` +
      '  2 | config: {https: {cert_id: x}}\n    |                           ^\n' +
      `${uses.map((place) => `  ${place}  used here\n`).join('')}\n1 error in 1 file\n`,
  )
  expect(formatDiagnosticsGithub(diagnostics)).toBe(
    '::error file=profiles/p.yaml,line=2,endLine=2,col=27,endColumn=28,' +
      `title=The service refuses this value::${detail}` +
      `${uses.map((place) => `%0A${place} used here`).join('')}\n`,
  )
  const sarif = JSON.parse(formatDiagnosticsSarif(diagnostics, { version: '1' })) as {
    runs: [{ results: { relatedLocations: object[] }[] }]
  }
  const [result] = sarif.runs[0].results
  expect(result).toMatchObject({ ruleId: 'item-invalid', occurrenceCount: 500 })
  expect(result?.relatedLocations).toHaveLength(10)
})
