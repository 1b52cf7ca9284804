import { chmodSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Diagnostic } from '../../src/core/model/problem.ts'
import { planFixes, writeFixes } from '../../src/operations/fix.ts'
import { createFolder } from '../manifest/test-workspace.ts'
import { createDiagnostic } from '../report/create-diagnostic.ts'

const path = 'domains/a.yaml'
const text = 'domain: a.example.com\nconfig:\n  deny_url: {urls: [/a, /a]}\n'
const fixed = text.replace(', /a]', ']')
const outside = { machine: { processName: 'test' } } as Parameters<typeof writeFixes>[2]

const plan = (more: Partial<Diagnostic>, source: string | null = text) =>
  planFixes(
    [
      createDiagnostic({
        severity: 'warning',
        code: 'rule-duplicate',
        file: path,
        document: 0,
        pointer: '/config/deny_url/urls/1',
        ...more,
      }),
    ],
    () => source,
  )

describe('planFixes', () => {
  it.each<[Partial<Diagnostic>, boolean]>([
    [{}, true],
    [{ code: 'entry-redundant', severity: 'note', proof: 'text' }, true],
    [{ code: 'entry-redundant', severity: 'note', proof: 'cidr' }, true],
    [{ code: 'entry-redundant', severity: 'note', proof: 'automaton' }, false],
    [{ code: 'entry-redundant', severity: 'note' }, false],
    [{ code: 'rule-shadowed', proof: 'text' }, false],
    [{ pointer: '/profiles/0' }, false],
    [{ pointer: '/config/deny_url/urls' }, false],
    [{ pointer: '/config/deny_url/urls/4' }, false],
    [{ document: 1 }, false],
  ])('of %j: %s', (more, isFixed) => {
    expect(plan(more)).toEqual(isFixed ? [{ path, before: text, after: fixed }] : [])
  })

  it('leaves a file that was not loaded', () => {
    expect(plan({}, null)).toEqual([])
  })
})

describe('writeFixes', () => {
  const create = () => createFolder({ [path]: text })
  const write = (root: string) => writeFixes({ root }, plan({}), outside)

  it('replaces the file, and keeps its mode', () => {
    const root = create()
    chmodSync(join(root, path), 0o640)
    write(root)
    expect(readFileSync(join(root, path), 'utf8')).toBe(fixed)
  })

  it('refuses a file that was changed meanwhile', () => {
    const root = create()
    writeFileSync(join(root, path), `${text}# more\n`)
    expect(() => write(root)).toThrow('was changed meanwhile; nothing was written')
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
    expect(() => write(root)).toThrow("can't be written (EACCES); nothing was written")
  })
})
