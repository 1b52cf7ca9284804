import { describe, expect, it } from 'vitest'
import { createSourceLineLookup } from '../../src/manifest/yaml/source-line.ts'
import { listMarks, listValues, createWorkspace } from './test-workspace.ts'

const withSecret = 'version: 1\nsecrets: {signing: {env: X}}\n'
const timestamp = (key: string) =>
  'domain: a.example.com\nconfig:\n' +
  `  visit_timestamp: {pattern: .*, time_format: timestamp, key: ${key}, deadtime: 60, ` +
  'req_uri_type: 1}\n'

describe('desired', () => {
  it('merges defaults, profiles in order, and the manifest', () => {
    const workspace = createWorkspace({
      'edgewise.yaml':
        'version: 1\n' +
        'defaults: {timeout: {time: 10}, https: {cert_id: 1}, ' +
        'connect_timeout: {origin_connect_timeout: 5}}\n',
      'profiles/all.yaml':
        'profile: one\nvars: {host: one, kept: k}\n' +
        'config: {https: {cert_id: 2, http2: on}, timeout: {time: 20}}\n---\nprofile: two\n' +
        'profiles: [base]\nvars: {host: two}\nconfig: {https: {force_https: 301}}\n---\n' +
        'profile: base\n' +
        'config: {https: {cert_id: 3}, ' +
        'client_real_ip: {head: "X-${var:host}-${var:kept}-${var:own}"}}\n',
      'domains/a.yaml':
        'domain: A.Example.com\nprofiles: [one, two]\nvars: {own: 5}\n' +
        'config: {https: {http2: null}, connect_timeout: null}\n',
    })
    expect(workspace.diagnostics).toEqual([])
    expect(listValues(workspace, 'a.example.com')).toEqual({
      https: { cert_id: 3, force_https: 301 },
      timeout: { time: '20' },
      client_real_ip: { head: 'X-two-k-5' },
    })
  })

  it('merges a profile once if several include it, and again if the manifest lists it', () => {
    const profiles =
      'profile: base\nconfig: {https: {cert_id: 1}, deny_url: {urls: {$append: [a]}}}\n' +
      '---\nprofile: left\nprofiles: [base]\nconfig: {https: {cert_id: 2}}\n---\n' +
      'profile: right\nprofiles: [base]\n'
    const workspace = createWorkspace({
      'profiles/p.yaml': profiles,
      'domains/a.yaml':
        'domain: a.example.com\nprofiles: [left, right]\n---\ndomain: b.example.com\n' +
        'profiles: [left, base]\n---\ndomain: c.example.com\nprofiles: [base, left]\n',
    })
    const cert = (domain: string) => listValues(workspace, domain)['https']
    expect([cert('a.example.com'), cert('b.example.com'), cert('c.example.com')]).toMatchObject([
      { cert_id: 2 },
      { cert_id: 1 },
      { cert_id: 2 },
    ])
  })

  it('replaces ${domain} for each domain of a list', () => {
    const workspace = createWorkspace({
      'domains/a.yaml':
        'domains: [a.example.com, b.example.com]\nconfig: {origin_host: {host: "o.${domain}"}}\n',
    })
    expect(listValues(workspace, 'b.example.com')).toEqual({
      origin_host: { host: 'o.b.example.com' },
    })
  })

  it('accepts $unset of every item where the account offers DELETE, also in a profile', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': 'version: 1\nservice: {unset: true}\ndefaults: {extend: {$unset: true}}\n',
      'profiles/base.yaml': 'profile: base\nconfig: {timeout: {$unset: true}}\n',
      'domains/a.yaml':
        'domain: a.example.com\nprofiles: [base]\nconfig: {user_agent: {$unset: true}}\n',
    })
    expect(workspace.diagnostics).toEqual([])
    expect(listValues(workspace, 'a.example.com')).toEqual({
      extend: 'unset',
      timeout: 'unset',
      user_agent: 'unset',
    })
  })

  it('treats $unset and emptied lists as unset', () => {
    const workspace = createWorkspace({
      'domains/a.yaml':
        'domain: a.example.com\n' +
        'config: {https: {$unset: true}, ip_black_list: {list: []}, cache_rule: []}\n',
    })
    expect(workspace.diagnostics).toEqual([])
    expect(workspace.desired.get('a.example.com')?.get('https')).toEqual({
      status: 'unset',
      candidates: [],
    })
    expect(listValues(workspace, 'a.example.com')).toEqual({
      https: 'unset',
      ip_black_list: 'unset',
      cache_rule: 'unset',
    })
  })

  it('keeps a domain without items, and omits items with errors', () => {
    const workspace = createWorkspace({
      'domains/a.yaml':
        'domain: a.example.com\nconfig: {}\n---\ndomain: b.example.com\n' +
        'config: {https: {cert_id: x}, timeout: {time: 5}}\n',
    })
    expect(listValues(workspace, 'a.example.com')).toEqual({})
    expect(workspace.desired.has('a.example.com')).toBe(true)
    expect(Object.keys(listValues(workspace, 'b.example.com'))).toEqual(['timeout'])
  })

  it('replaces secrets in the canonical value with fingerprints', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': withSecret,
      'domains/a.yaml':
        'domain: a.example.com\nconfig:\n  add_response_head:\n' +
        '    list: [{name: Z, value: "${domain} ${secret:signing}"}, {name: A, value: x}]\n',
    })
    expect(workspace.desired.get('a.example.com')?.get('add_response_head')).toMatchObject({
      status: 'confirmed',
      candidates: [
        {
          type: 'reset',
          list: [
            { name: 'A', value: 'x' },
            { name: 'Z', value: { $secret: 'scrypt:a.example.com ${secret:signing}' } },
          ],
        },
      ],
    })
  })
})

describe('secret literals', () => {
  it('are refused, and masked in the message and its source line', () => {
    for (const key of ['hunter2x', '"hunter2x"', '1234567']) {
      const workspace = createWorkspace({ 'domains/a.yaml': timestamp(key) })
      expect(listMarks(workspace)).toEqual([
        `domains/a.yaml:3:63-${63 + key.length} secret-literal`,
      ])
      const [first] = workspace.diagnostics
      if (first === undefined) throw new TypeError('expected a diagnostic')
      expect(JSON.stringify(first) + String(workspace.findSourceLine(first))).not.toMatch(
        /hunter2|1234567/,
      )
      expect(workspace.findSourceLine(first)).toContain('visit_timestamp: {pattern: .*')
      expect(workspace.desired.get('a.example.com')?.size).toBe(0)
    }
  })

  it('are masked in the line below the name of their field', () => {
    const workspace = createWorkspace({
      'domains/a.yaml':
        'domain: a.example.com\nconfig:\n  visit_timestamp:\n    pattern: .*\n    key: # x\n\n' +
        '      hunter2\n    deadtime: 1\n',
    })
    const found = workspace.diagnostics.find(({ code }) => code === 'secret-literal')
    expect(found?.line).toBe(7)
    expect(found && workspace.findSourceLine(found)).toBe('      *******')
    expect(found && workspace.findSourceLine({ ...found, line: 8 })).toBe('    deadtime: 1')
  })

  it.each(['&a', '!!str', '|', '>- # x', '"x', "'x", 'x', '&a x'])(
    'are masked in the lines below that belong to a field, after %s',
    (start) => {
      const text =
        `config:\n  visit_timestamp:\n    key: ${start}\n# x\n` +
        '      hunter2\n        hunter2\n    a: 1'
      const findLine = createSourceLineLookup(() => [{ path: 'a.yaml', text }])
      const lines = [5, 6, 7].map((line) =>
        findLine({ file: 'a.yaml', line, column: 1, endLine: line, endColumn: 1 }),
      )
      expect(lines).toEqual(['      *******', '        *******', '    a: 1'])
    },
  )

  it('are masked in lines of other problems and of invalid YAML', () => {
    const broken = createWorkspace({
      'domains/a.yaml': 'domain: a.example.com\nconfig: {visit_timestamp: {key: "hunter2"\n',
    })
    const lines = broken.diagnostics.map((each) => broken.findSourceLine({ ...each, line: 2 }))
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join()).not.toContain('hunter2')
  })

  it('are sealed by the keeper if the workspace allows them', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': 'version: 1\nallowLiteralSecrets: true\n',
      'domains/a.yaml': timestamp('hunter2'),
    })
    expect(workspace.diagnostics).toEqual([])
    expect(
      workspace.desired.get('a.example.com')?.get('visit_timestamp')?.candidates[0],
    ).toMatchObject({
      key: { $secret: 'scrypt:literal of 7' },
    })
  })

  it('are reported in unknown fields', () => {
    const manifest =
      'domain: a.example.com\nconfig:\n  timeout: {time: 60, tme: "${secret:signing}"}\n'
    expect(
      createWorkspace({ 'edgewise.yaml': withSecret, 'domains/a.yaml': manifest }).diagnostics,
    ).toMatchObject([{ line: 3, column: 23, summary: 'Unknown field' }])
  })

  it('may be replaced by references', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': withSecret,
      'domains/a.yaml': timestamp('"${secret:signing}"'),
    })
    expect(workspace.diagnostics).toEqual([])
    expect(
      workspace.findSourceLine({
        file: 'domains/a.yaml',
        line: 3,
        column: 1,
        endLine: 3,
        endColumn: 1,
      }),
    ).toContain('key: "${secret:signing}", deadtime')
  })
})

describe('findItemPlace', () => {
  it('finds items next to a misplaced $append', () => {
    const files = {
      'domains/a.yaml':
        'domain: a.example.com\nconfig:\n  origin_host: {host: o.example.com}\n  $append:\n' +
        '    - x\n',
    }
    expect(createWorkspace(files).findItemPlace('a.example.com', 'origin_host')).toMatchObject({
      file: 'domains/a.yaml',
      line: 3,
    })
  })

  const workspace = createWorkspace.bind(null, {
    'edgewise.yaml': 'version: 1\ndefaults: {timeout: {time: 10}}\n',
    'profiles/p.yaml': 'profile: p\nconfig: {client_real_ip: {head: X}}\n',
    'domains/a.yaml':
      '# first\n---\ndomain: a.example.com\nprofiles: [p]\nconfig:\n  https:\n    cert_id: 7\n',
  })

  it('finds items and fields in the manifest, or the entry that brings them in', () => {
    const { findItemPlace } = workspace()
    expect(findItemPlace('a.example.com', 'https')).toMatchObject({
      file: 'domains/a.yaml',
      line: 6,
      column: 3,
      endColumn: 8,
    })
    expect(findItemPlace('a.example.com', 'https', '/cert_id')).toMatchObject({
      line: 7,
      column: 14,
      endColumn: 15,
    })
    expect(findItemPlace('a.example.com', 'https', '/force_https')).toMatchObject({
      line: 6,
      column: 3,
    })
    expect(findItemPlace('a.example.com', 'client_real_ip', '/head')).toMatchObject({
      file: 'domains/a.yaml',
      line: 4,
      column: 12,
      endColumn: 13,
    })
    expect(findItemPlace('a.example.com', 'timeout')).toMatchObject({
      line: 3,
      column: 1,
      endColumn: 7,
    })
  })

  it('returns null for undeclared items and domains', () => {
    const { findItemPlace } = workspace()
    expect(findItemPlace('a.example.com', 'referer')).toBeNull()
    expect(findItemPlace('b.example.com', 'https')).toBeNull()
  })
})
