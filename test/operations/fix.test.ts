import { chmodSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Diagnostic, RuleFinding } from '../../src/core/model/problem.ts'
import { planFixes, writeFixes } from '../../src/operations/fix.ts'
import { createFolder } from '../manifest/test-workspace.ts'
import { createDiagnostic } from '../report/create-diagnostic.ts'

const path = 'domains/a.yaml'
const text = 'domain: a.example.com\nconfig:\n  deny_url: {urls: [/a, /a]}\n'
const fixed = text.replace(', /a]', ']')
const outside = { machine: { processName: 'test' } } as Parameters<typeof writeFixes>[2]

/** Plans a fix of a finding about the second entry of a manifest, or of a profile of domains. */
function plan(
  finding: Partial<RuleFinding> = {},
  more: Partial<Diagnostic> = {},
  source: string | null = text,
  domains = ['a.example.com'],
) {
  const rule = { item: 'deny_url', pointer: '/urls/1', pattern: '/a' }
  return planFixes(
    {
      desired: new Map(domains.map((domain) => [domain, new Map()])),
      findProfiles: () => ['p'],
      findSource: () => source,
    },
    [
      createDiagnostic({
        severity: 'note',
        code: 'entry-redundant',
        file: path,
        document: 0,
        pointer: '/config/deny_url/urls/1',
        finding: {
          domains: ['a.example.com'],
          rule,
          other: [],
          rests: {},
          proof: 'text',
          witness: null,
          ...finding,
        },
        ...more,
      }),
    ],
  )
}

describe('planFixes', () => {
  it.each<[Partial<RuleFinding>, Partial<Diagnostic>, boolean]>([
    [{}, {}, true],
    [{ proof: 'cidr' }, {}, true],
    [{ proof: 'automaton' }, {}, false],
    [{ proof: null }, {}, false],
    [{ proof: null }, { code: 'rule-duplicate' }, true],
    [{}, { code: 'rule-shadowed' }, false],
    [{ rests: { R4: 'whole' } }, {}, false],
    [{ rule: { item: 'deny_url', pointer: '/urls/1', pattern: '/b' } }, {}, false],
    [{ domains: [] }, {}, false],
    [{}, { pointer: '/profiles/0' }, false],
    [{}, { pointer: '/config/deny_url/urls' }, true],
    [{}, { pointer: '/config/deny_url/urls/4' }, false],
    [{}, { document: 1 }, false],
    [{}, { severity: 'error' }, true],
  ])('of %j, %j: %s', (finding, more, isFixed) => {
    expect(plan(finding, more)).toEqual(isFixed ? [{ path, before: text, after: fixed }] : [])
  })

  it('leaves a file that was not loaded', () => {
    expect(plan({}, {}, null)).toEqual([])
  })

  it('edits a profile, or a manifest of several domains, only if all have the finding', () => {
    const two = ['a.example.com', 'b.example.com']
    const sources = [
      text.replace('domain: a.example.com', 'profile: p'),
      text.replace('domain: a.example.com', 'domains: [a.example.com, B.example.com]'),
    ]
    for (const source of sources) {
      expect(plan({}, {}, source, two)).toEqual([])
      expect(plan({ domains: two }, {}, source, two)).toHaveLength(1)
    }
  })
})

describe('writeFixes', () => {
  const create = () => createFolder({ [path]: text })
  const write = (root: string) => writeFixes({ root }, plan(), outside)

  it('replaces the file, and keeps its mode', () => {
    const root = create()
    chmodSync(join(root, path), 0o640)
    write(root)
    expect(readFileSync(join(root, path), 'utf8')).toBe(fixed)
  })

  it('refuses a file that was changed meanwhile', () => {
    const root = create()
    writeFileSync(join(root, path), `${text}# more\n`)
    expect(() => write(root)).toThrow('it was changed meanwhile; nothing was written')
    expect(readFileSync(join(root, path), 'utf8')).toBe(`${text}# more\n`)
  })

  it('writes nothing outside of the workspace', () => {
    const [root, other] = [create(), create()]
    unlinkSync(join(root, path))
    symlinkSync(join(other, path), join(root, path))
    expect(() => write(root)).toThrow('leads out of the workspace through a link')
    expect(readFileSync(join(other, path), 'utf8')).toBe(text)
  })

  it.skipIf(process.getuid?.() === 0)('refuses a file that is read-only', () => {
    const root = create()
    chmodSync(join(root, path), 0o444)
    expect(() => write(root)).toThrow(
      "can't be written (EACCES): no permission; nothing was written",
    )
  })
})
