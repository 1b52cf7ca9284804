import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/model/edgewise-error.ts'
import { findRoot, loadWorkspace } from '../../src/manifest/load-workspace.ts'
import { createFolder, listMarks, plainKeeper, createWorkspace } from './test-workspace.ts'

const load = (root: string) => loadWorkspace(root, {}, () => plainKeeper)

describe('findRoot', () => {
  it('looks upwards', () => {
    const root = createFolder({ 'a/b/c.txt': '' })
    expect(findRoot(join(root, 'a/b'))).toBe(root)
    expect(findRoot('/')).toBeNull()
  })
})

describe('loadWorkspace', () => {
  it('says when there is no workspace', () => {
    expect(() => load('/nowhere/at/all')).toThrow(
      expect.objectContaining({ code: 'not-a-workspace' }),
    )
  })

  it('throws what is wrong with the workspace file', () => {
    const root = createFolder({ 'edgewise.yaml': 'version: 1\nidd: x\n' })
    try {
      load(root)
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      expect(error).toMatchObject({
        code: 'invalid',
        diagnostics: [
          {
            code: 'workspace-invalid',
            file: 'edgewise.yaml',
            line: 2,
            column: 1,
            endColumn: 4,
            pointer: '/idd',
          },
        ],
      })
    }
  })

  it('finds manifests and profiles in either glob, by their content, each file once', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': 'version: 1\nmanifests: ["**/*.yaml", "!old/**"]\nprofiles: ["**/*.yaml"]\n',
      'a.yaml': 'domain: a.example.com\nprofiles: [p]\n---\nprofile: p\n',
      'old/b.yaml': 'domain: b.example.com\n',
      '.github/c.yaml': 'on: push\n',
      'node_modules/x/d.yaml': 'x: 1\n',
    })
    expect(listMarks(workspace)).toEqual([])
    expect([...workspace.desired.keys()]).toEqual(['a.example.com', 'b.example.com'])
  })

  it('reports files that are no manifests, and goes on', () => {
    const root = createFolder({
      'domains/good.yaml': 'domain: a.example.com\n',
      'domains/empty.yaml': '',
      'domains/bom.yaml': '\ufeffdomain: b.example.com\nx: 1\n',
    })
    writeFileSync(join(root, 'domains/big.yaml'), `# ${'x'.repeat(6 * 1024 * 1024)}`)
    writeFileSync(join(root, 'domains/latin.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xe9, 0x0a]))
    writeFileSync(join(root, 'domains/nul.yaml'), 'a: \0')
    mkdirSync(join(root, 'domains/folder.yaml'))
    execFileSync('mkfifo', [join(root, 'domains/pipe.yaml')])
    symlinkSync('/dev/zero', join(root, 'domains/device.yaml'))
    symlinkSync('/etc/hostname', join(root, 'domains/outside.yaml'))
    symlinkSync('/etc', join(root, 'domains/etc'))
    symlinkSync('nowhere', join(root, 'domains/dangling.yaml'))
    symlinkSync('self.yaml', join(root, 'domains/self.yaml'))
    const workspace = load(root)
    expect(listMarks(workspace)).toEqual([
      'domains/big.yaml:1:1-1 file-invalid',
      'domains/bom.yaml:2:1-2 manifest-invalid',
      'domains/dangling.yaml:1:1-1 file-unreadable',
      'domains/device.yaml:1:1-1 file-invalid',
      'domains/etc:1:1-1 file-invalid',
      'domains/folder.yaml:1:1-1 file-invalid',
      'domains/latin.yaml:1:1-1 file-invalid',
      'domains/nul.yaml:1:1-1 file-invalid',
      'domains/outside.yaml:1:1-1 file-invalid',
      'domains/pipe.yaml:1:1-1 file-invalid',
      'domains/self.yaml:1:1-1 file-unreadable',
    ])
    expect([...workspace.desired.keys()]).toEqual(['b.example.com', 'a.example.com'])
  })

  it('follows links within the workspace, and never in a circle', () => {
    const root = createFolder({ 'shared/a.yaml': 'domain: a.example.com\n', 'domains/x.txt': '' })
    symlinkSync('../shared', join(root, 'domains/shared'))
    symlinkSync('..', join(root, 'shared/up'))
    symlinkSync('../shared', join(root, 'shared/self'))
    const workspace = load(root)
    expect(listMarks(workspace)).toEqual([])
    expect([...workspace.desired.keys()]).toEqual(['a.example.com'])
  })

  it.skipIf(process.getuid?.() === 0)('reports what may not be read', () => {
    const root = createFolder({
      'domains/a.yaml': 'domain: a.example.com\n',
      'domains/sub/b.yaml': 'domain: b.example.com\n',
    })
    chmodSync(join(root, 'domains/a.yaml'), 0)
    chmodSync(join(root, 'domains/sub'), 0)
    expect(listMarks(load(root))).toEqual([
      'domains/a.yaml:1:1-1 file-unreadable',
      'domains/sub:1:1-1 file-unreadable',
    ])
    chmodSync(join(root, 'domains/sub'), 0o700)
  })

  it('gives the lines of its files', () => {
    const workspace = createWorkspace({
      'domains/a.yaml': 'domain: a.example.com\r\nconfig: {}\r\n',
    })
    const at = (file: string, line: number) =>
      workspace.findSourceLine({ file, line, column: 1, endLine: line, endColumn: 1 })
    expect(at('domains/a.yaml', 2)).toBe('config: {}')
    expect(at('edgewise.yaml', 1)).toBe('version: 1')
    expect(at('domains/a.yaml', 9)).toBeNull()
    expect(at('no.yaml', 1)).toBeNull()
  })
})
