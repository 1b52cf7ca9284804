import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { findFiles } from '../../src/manifest/manifests/find-files.ts'
import { findMisnamed, findRoot } from '../../src/manifest/workspace-file/find-root.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import {
  createFolder,
  listGlobs,
  listMarks,
  plainKeeper,
  createWorkspace,
} from './test-workspace.ts'

const load = (root: string) => loadWorkspace(root, {}, () => plainKeeper)

describe('findMisnamed', () => {
  it.each(['edgewise.yml', 'EDGEWISE.YAML', 'Edgewise.Yml'])('finds %s', (name) => {
    const root = createFolder({ 'a/b/x.yaml': '' })
    renameSync(join(root, 'edgewise.yaml'), join(root, name))
    expect(findMisnamed(join(root, 'a/b'))).toBe(join(root, name))
  })

  it('ignores folders and other files, and the files of a missing folder', () => {
    const root = createFolder({
      'edgewise.yml/x': '',
      'edgewise.yaml.bak': '',
      'my-edgewise.yml': '',
    })
    expect(findMisnamed(join(root, 'nowhere'))).toBeNull()
  })
})

describe('findRoot', () => {
  it('searches upwards', () => {
    const root = createFolder({ 'a/b/c.txt': '' })
    expect(findRoot(join(root, 'a/b'))).toBe(root)
    expect(findRoot('/')).toBeNull()
  })

  it('refuses a misnamed file that is nearer', () => {
    const root = createFolder({ 'a/edgewise.yml': '', 'a/b/c.txt': '', 'd/edgewise.yml/x': '' })
    const [near, far] = [join(root, 'a/edgewise.yml'), join(root, 'edgewise.yaml')]
    for (const start of ['a', 'a/b'])
      expect(() => findRoot(join(root, start))).toThrow(
        expect.objectContaining({
          code: 'not-a-workspace',
          message: `there is ${near}, which is no name of a workspace file, below ${far}`,
          hint: expect.stringContaining(`Rename ${near} to edgewise.yaml`) as unknown,
        }),
      )
    expect(findRoot(join(root, 'd'))).toBe(root)
    writeFileSync(join(root, 'a/edgewise.yaml'), 'version: 1\n')
    expect(findRoot(join(root, 'a/b'))).toBe(join(root, 'a'))
  })
})

describe('findFiles', () => {
  it('finds the same with a usual glob as with one of the same meaning', () => {
    const root = createFolder({
      'all/domains/a.yaml': '',
      'all/domains/a.yml/b.yml': '',
      'all/domains/.hidden.yaml': '',
      'all/domains/.hidden/c.yaml': '',
      'all/domains/.yaml': '',
      'all/domains/node_modules/d.yaml': '',
      'all/domains/eu/node_modules/d.yaml': '',
      'all/domains/eu/west/e.yaml': '',
      'all/domains/eu/F.YAML': '',
      'all/domains/eu/gyaml': '',
      'all/domains-old/h.yaml': '',
      'all/i.yaml': '',
      'more/j.yaml': '',
    })
    symlinkSync(join(root, 'more'), join(root, 'all/domains/linked'))
    symlinkSync(root, join(root, 'all/domains/loop'))
    symlinkSync('/etc', join(root, 'all/domains/outside'))
    const search = (end: string, base = 'all/domains') => {
      const listed: number[] = []
      const lists = listGlobs({ manifests: [`${base}/**/${end}`], profiles: [] })
      const found = findFiles(root, lists, ['manifests', 'profiles'], (count) => listed.push(count))
      return { ...found, listed }
    }
    const found = search('*.{yaml,yml}')
    expect(found).toEqual(search('*.@(yaml|yml)'))
    expect(found.paths).toEqual([
      'all/domains/a.yaml',
      'all/domains/a.yml/b.yml',
      'all/domains/eu/west/e.yaml',
      'all/domains/linked/j.yaml',
    ])
    expect(found.diagnostics.map(({ file }) => file)).toEqual([
      'all/domains/outside',
      'all/domains/a.yml',
    ])
    expect(search('*.yml')).toEqual(search('*.y@(m)l'))
    expect(search('*.yaml', 'nowhere')).toEqual(search('*.@(yaml)', 'nowhere'))
  })
})

describe('loadWorkspace', () => {
  it('throws if there is no workspace', () => {
    expect(() => load('/nowhere/at/all')).toThrow(
      expect.objectContaining({ code: 'not-a-workspace' }),
    )
  })

  it('throws the diagnostics of the workspace file', () => {
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

  it('finds manifests and profiles in both globs, by content, each file once', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': 'version: 1\nmanifests: ["**/*.yaml", "!old/**"]\nprofiles: ["**/*.yaml"]\n',
      'a.yaml': 'domain: a.example.com\nprofiles: [p]\n---\nprofile: p\n',
      'old/b.yaml': 'domain: b.example.com\nconfig: {}\n',
      '.github/c.yaml': 'on: push\n',
      'node_modules/x/d.yaml': 'x: 1\n',
    })
    expect(listMarks(workspace)).toEqual([])
    expect([...workspace.desired.keys()]).toEqual(['a.example.com', 'b.example.com'])
  })

  it('reports files that are not manifests, and continues', () => {
    const root = createFolder({
      'domains/good.yaml': 'domain: a.example.com\nconfig: {}\n',
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
      'domains/empty.yaml:1:1-1 file-invalid',
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

  it('loads .yml files like .yaml files', () => {
    const workspace = createWorkspace({
      'domains/a.yml': 'domain: a.example.com\nprofiles: [p]\n',
      'domains/eu/b.yaml': 'domain: b.example.com\nprofiles: [q]\n',
      'profiles/p.yml': 'profile: p\n',
      'profiles/q.yaml': 'profile: q\n',
    })
    expect(listMarks(workspace)).toEqual([])
    expect([...workspace.desired.keys()]).toEqual(['a.example.com', 'b.example.com'])
  })

  it('warns of a manifest or profile whose file no glob matches because of its name', () => {
    const workspace = createWorkspace({
      'domains/a.yaml': 'domain: a.example.com\nconfig: {}\n',
      'domains/b.YAML': '# shop\ndomain: b.example.com\nconfig: {}\n',
      'domains/eu/c.json': '{\n  "domain": "c.example.com"\n}\n',
      'domains/d.example.com': 'domain: D.example.com\nconfig: {}\n',
      'domains/e': '---\ndomains: [e.example.com]\nconfig: {}\n',
      'profiles/p.Yml': 'profile: p\n',
      'domains/README': 'The domain: see the handbook.\n',
      'domains/notes.md': 'domain: x.example.com\nconfig: {}\n',
      'domains/f.yaml.bak': 'domain: f.example.com\nconfig: {}\n',
      'domains/live.json': '{"g.example.com": {"https": {}}}\n',
    })
    expect(listMarks(workspace)).toEqual([
      'domains/b.YAML:1:1-1 file-invalid',
      'domains/d.example.com:1:1-1 file-invalid',
      'domains/e:1:1-1 file-invalid',
      'domains/eu/c.json:1:1-1 file-invalid',
      'profiles/p.Yml:1:1-1 file-invalid',
    ])
    expect(workspace.diagnostics[0]).toMatchObject({
      severity: 'warning',
      summary: 'This file is not loaded',
      detail:
        'it looks like a manifest, a profile or a policy, but no glob of edgewise.yaml matches ' +
        'its name. ' +
        'Rename it to "b.yaml", or exclude it with the glob "!domains/b.YAML".',
    })
  })

  it.each([
    ['a.txt', 'a.yaml'],
    ['a.yaml.txt', 'a.yaml'],
    ['a.yml.TXT', 'a.yaml'],
    ['a.ymal', 'a.yaml'],
    ['a.yam', 'a.yaml'],
    ['a.yaml.json', 'a.yaml'],
  ])('warns of %s, which is probably meant to be a manifest', (name, right) => {
    const text = '# shop\n---\ndomain: b.example.com\nconfig: {}\n'
    const workspace = createWorkspace({ [`domains/${name}`]: text })
    expect(listMarks(workspace)).toEqual([`domains/${name}:1:1-1 file-invalid`])
    expect(workspace.diagnostics[0]?.detail).toContain(`Rename it to "${right}"`)
  })

  it('warns of no file that was renamed to switch it off, and of no other text', () => {
    const manifest = 'domain: b.example.com\nconfig: {}\n'
    const names = ['a.bak', 'a.yaml.bak', 'a.yml.disabled', 'a.yaml.orig', 'a.yml~', 'a.yaml.tmpl']
    const workspace = createWorkspace({
      ...Object.fromEntries(names.map((name) => [`domains/${name}`, manifest])),
      'domains/README.md': manifest,
      'domains/notes.txt': 'Notes on the manifests.\ndomain: see the handbook\n',
      'domains/robots.txt': 'User-agent: *\n',
      'notes.txt': manifest,
    })
    expect(workspace.diagnostics).toEqual([])
  })

  it('warns of a .yml file that an older glob misses, and of none that a glob excludes', () => {
    const workspace = createWorkspace({
      'edgewise.yaml': 'version: 1\nmanifests: ["domains/**/*.yaml", "!domains/old/**"]\n',
      'domains/a.yml': 'domain: a.example.com\nconfig: {}\n',
      'domains/old/b.yaml': 'domain: b.example.com\nconfig: {}\n',
      'domains/old/c.yml': 'domain: c.example.com\nconfig: {}\n',
    })
    expect(listMarks(workspace)).toEqual(['domains/a.yml:1:1-1 file-invalid'])
  })

  it('follows links within the workspace, without cycles', () => {
    const root = createFolder({
      'shared/a.yaml': 'domain: a.example.com\nconfig: {}\n',
      'domains/x.txt': '',
    })
    symlinkSync('../shared', join(root, 'domains/shared'))
    symlinkSync('..', join(root, 'shared/up'))
    symlinkSync('../shared', join(root, 'shared/self'))
    const workspace = load(root)
    expect(listMarks(workspace)).toEqual([])
    expect([...workspace.desired.keys()]).toEqual(['a.example.com'])
  })

  it.skipIf(process.getuid?.() === 0)('reports files and folders without read permission', () => {
    const root = createFolder({
      'domains/a.yaml': 'domain: a.example.com\nconfig: {}\n',
      'domains/sub/b.yaml': 'domain: b.example.com\nconfig: {}\n',
    })
    chmodSync(join(root, 'domains/a.yaml'), 0)
    chmodSync(join(root, 'domains/sub'), 0)
    expect(listMarks(load(root))).toEqual([
      'domains/a.yaml:1:1-1 file-unreadable',
      'domains/sub:1:1-1 file-unreadable',
    ])
    chmodSync(join(root, 'domains/sub'), 0o700)
  })

  it('returns source lines of its files', () => {
    const workspace = createWorkspace({
      'domains/a.yaml': 'domain: a.example.com\r\nconfig: {}\r\n',
    })
    const findLine = (file: string, line: number) =>
      workspace.findSourceLine({ file, line, column: 1, endLine: line, endColumn: 1 })
    expect(findLine('domains/a.yaml', 2)).toBe('config: {}')
    expect(findLine('edgewise.yaml', 1)).toBe('version: 1')
    expect(findLine('domains/a.yaml', 9)).toBeNull()
    expect(findLine('no.yaml', 1)).toBeNull()
  })
})
